// What a turn did with signals and timers, as lines of the run's history.

import type { Effect, FlowHost, TurnBase } from '../../flow/index.js';
import type { StoredEvent, TurnCommit } from '../../store/index.js';

/** One line of a run's history. */
export type Note = TurnCommit['logs'][number];

const NONE: readonly Note[] = [];

/**
 * The lines of one turn; most turns have none. A signal is noted when a wait has taken it, or when its run has ended without
 * taking it; until then it is shown from where it is stored.
 */
export function turnNotes(
  result: TurnBase,
  events: readonly StoredEvent[],
  signals: readonly StoredEvent[],
  host: Pick<FlowHost, 'now'>,
  over: boolean,
): readonly Note[] {
  if (signals.length + result.fired.length + result.muted.length === 0 && result.effects.every(hasOwnHistory)) return NONE;
  const notes: Note[] = [];
  const at = host.now();
  const note = (kind: string, detail: unknown, when = at) => notes.push({ kind, at: when, detail });
  if (signals.length > 0) noteSignals(result, signals, over, note);
  for (const call of result.fired) note(isTimeout(events, call) ? 'wait-timed-out' : 'timer-fired', { call });
  for (const effect of result.effects) {
    if (effect.kind === 'timer')
      note('timer-set', { call: effect.id, ...('at' in effect ? { at: new Date(effect.at).toISOString() } : { delayMs: effect.delayMs }) });
    else if (effect.kind === 'wait') note('wait-set', { call: effect.id, signal: effect.signal, timeoutMs: effect.timeoutMs });
    // The end of a run tells enough about what still waited, and a taken signal about the wait that took it.
    else if (effect.kind === 'withdraw' && (effect.reason === 'lost' || effect.reason === 'cancelled'))
      note('withdrawn', { call: effect.id, reason: effect.reason });
  }
  for (const call of result.muted) note('wait-muted', { call });
  return notes;
}

// Tasks and children are executions with a history of their own.
function hasOwnHistory({ kind }: Effect): boolean {
  return kind !== 'timer' && kind !== 'wait' && kind !== 'withdraw';
}

function noteSignals(
  { consumedSignals }: TurnBase,
  signals: readonly StoredEvent[],
  over: boolean,
  note: (kind: string, detail: unknown, when?: number) => void,
): void {
  const takenBy = new Map(consumedSignals.map(({ key, wait }) => [key, wait]));
  for (const { seq, name, sentAt } of signals) {
    const call = takenBy.get(String(seq));
    if (call !== undefined || over) note('signal-sent', { signal: name }, sentAt ?? undefined);
    if (call !== undefined) note('signal-taken', { signal: name, call });
  }
}

function isTimeout(events: readonly StoredEvent[], call: number): boolean {
  return events.some((event) => event.kind === 'timeout' && event.call === call);
}
