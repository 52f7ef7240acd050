// Stored events as a turn takes them, and which of its signals were taken.

import type { ConsumedSignal, FlowEvent } from '../../flow/index.js';
import type { StoredEvent } from '../../store/index.js';
import { cancelledError } from '../error-data.js';

/** The sequence number of an event that exists in memory only and was never stored. */
export const IN_MEMORY = 0;

/** Stored events as the VM takes them, in their order. A second cancel is left out: the run has received one already. */
export function toFlowEvents(stored: readonly StoredEvent[], wasCancelled: boolean): { events: FlowEvent[]; signals: StoredEvent[] } {
  const events: FlowEvent[] = [];
  const signals: StoredEvent[] = [];
  let isCancelled = wasCancelled;
  for (const one of stored) {
    const { kind, call, seq, name, payload } = one;
    switch (kind) {
      case 'completed':
        events.push({ kind, id: call, value: payload ?? undefined });
        break;
      case 'failed':
        events.push({ kind, id: call, error: payload === null ? { name: 'Error', message: 'unknown' } : JSON.parse(payload) });
        break;
      case 'timer':
      case 'timeout':
        events.push({ kind, id: call });
        break;
      case 'signal':
        events.push({ kind, key: String(seq), name: name ?? '', payload: payload ?? undefined });
        signals.push(one);
        break;
      case 'cancel':
        if (!isCancelled) events.push({ kind, reason: reasonOf(one) });
        isCancelled = true;
    }
  }
  return { events, signals };
}

const NO_SIGNALS: { taken: number[]; left: StoredEvent[] } = { taken: [], left: [] };

/** The sequence numbers of the signals that a wait took, and the signals that stay. */
export function sortSignals(signals: readonly StoredEvent[], consumed: readonly ConsumedSignal[]): typeof NO_SIGNALS {
  if (signals.length === 0) return NO_SIGNALS;
  const keys = new Set(consumed.map(({ key }) => key));
  const isTaken = (signal: StoredEvent) => keys.has(String(signal.seq));
  return { taken: signals.filter(isTaken).map((signal) => signal.seq), left: signals.filter((signal) => !isTaken(signal)) };
}

/** The reason that a cancel gives. */
export function reasonOf(cancel: StoredEvent): string | undefined {
  return cancel.payload === null ? undefined : (JSON.parse(cancel.payload) as string);
}

/** The stored error of a cancelled run, as JSON. */
export function cancelErrorOf(cancel: StoredEvent): string {
  return JSON.stringify(cancelledError(reasonOf(cancel)));
}
