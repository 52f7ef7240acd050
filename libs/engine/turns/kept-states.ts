// The states that a run keeps of its last turns (history.snapshots): each with the calls that it waits for, as they were made, so that
// a run can be continued from it.

import { type PendingDescription, pendingCalls, snapshotHeader } from '../../flow/index.js';
import {
  type KeptState,
  type NewExecution,
  type NewTimer,
  type PendingStep,
  readCalls,
  readKeptRefs,
  type StoredCall,
} from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { HeldItem } from '../work/held-work.js';
import { reach } from './reach.js';
import type { EffectRows } from './turn-effects.js';

/** JSON text of each call that a run waits for, by its number. */
export type MadeCalls = ReadonlyMap<number, string>;

/** What a turn knows of the calls of its run. */
interface KnownCalls {
  /** Those of the turns before it; undefined when this worker did not see them. */
  made: MadeCalls | undefined;
  pending: readonly PendingStep[];
  rows: Pick<EffectRows, 'children' | 'timers'>;
  /** The number of the turn, and its time in milliseconds. */
  turn: number;
  now: number;
}

/** Returns what is to be kept of a turn, and the calls that its run waits for. Those that are not known are read. */
export async function keptState(
  { store, options }: WorkerParts,
  run: Pick<HeldItem, 'id' | 'bucket'>,
  snapshot: string,
  known: KnownCalls,
): Promise<{ kept: KeptState; made: MadeCalls }> {
  const waitsFor = pendingCalls(snapshot);
  const made = madeCalls(waitsFor, known);
  const missing = waitsFor.filter(({ id }) => !made.has(id));
  const stored = missing.length > 0 ? await reach(() => readCalls(store.db, run, numbersOf(missing))) : [];
  const byCall = new Map(stored.map((call) => [call.call, call]));
  for (const call of missing) made.set(call.id, callText(call, byCall.get(call.id)));
  const texts = waitsFor.map(({ id }) => made.get(id));
  const { fingerprint } = snapshotHeader(snapshot);
  return { kept: { turn: known.turn, fingerprint, pendingCalls: `[${texts.join(',')}]`, most: options.maxSnapshots }, made };
}

/** Returns where states are stored outside the row that no kept state needs once the turn is written; `newest` is the last one that keeps its state. */
export async function unneededRefs(
  { store, options }: WorkerParts,
  run: Pick<HeldItem, 'id' | 'bucket'>,
  newest: number,
  current: string | undefined,
): Promise<string[]> {
  const kept = await reach(() => readKeptRefs(store.db, run));
  const old = kept.filter((state) => state.turn <= newest - options.maxSnapshots).map(({ ref }) => ref);
  const isKept = current === undefined || kept.some(({ ref }) => ref === current);
  return isKept ? old : [...old, current];
}

const numbersOf = (calls: readonly PendingDescription[]) => calls.map(({ id }) => id);

function madeCalls(waitsFor: readonly PendingDescription[], { made, pending, rows, now }: KnownCalls): Map<number, string> {
  const children = new Map(rows.children.map((child) => [child.parentCall, child]));
  const timers = new Map(rows.timers.map((timer) => [timer.call, timer]));
  const steps = new Map(pending.map((step) => [step.call, step]));
  const texts = new Map<number, string>();
  for (const call of waitsFor) {
    const { id } = call;
    const text = made?.get(id) ?? ofChild(call, children.get(id)) ?? ofTimer(call, timers.get(id), now) ?? ofStep(call, steps.get(id));
    if (text !== undefined) texts.set(id, text);
    // A wait without a timeout has nothing but its name.
    else if (call.kind === 'wait' && made !== undefined) texts.set(id, callText(call));
  }
  return texts;
}

function ofChild(call: PendingDescription, child: NewExecution | undefined): string | undefined {
  if (!child) return undefined;
  const { id, targetName: name, queue, priority, version, input, options } = child;
  return callText(call, { id, name, queue, priority, version, input, options });
}

function ofTimer(call: PendingDescription, timer: NewTimer | undefined, now: number): string | undefined {
  return timer && callText(call, { dueAt: timer.at ?? now + (timer.delayMs ?? 0) });
}

function ofStep(call: PendingDescription, step: PendingStep | undefined): string | undefined {
  return step && callText(call, step);
}

type CallFacts = { [Name in keyof StoredCall]?: StoredCall[Name] | undefined };

// Inputs are JSON text in JSON text: what a payload contains must not matter to whoever reads the rest.
function callText({ id: call, kind, name }: PendingDescription, facts: CallFacts = {}): string {
  const { id, queue, priority, version, input, options, dueAt } = facts;
  const given = { id, queue, priority: priority || undefined, version, input, options, dueAt };
  return JSON.stringify({ call, kind, name, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value != null)) });
}
