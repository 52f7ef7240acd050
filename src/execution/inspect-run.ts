// The state of a workflow for people: read from its stored state, its program and what is scheduled for it.

import type { SnapshotStore } from '../../libs/engine/index.js';
import {
  type BranchDescription,
  describe,
  type FlowAllowList,
  FlowSnapshotError,
  type FrameDescription,
  intersectAllowLists,
  loadProgram,
  type PendingDescription,
  type RunDescription,
  snapshotHeader,
} from '../../libs/flow/index.js';
import {
  type ExecutionRecord,
  getExecution,
  getProgram,
  listKeptStates,
  type Runner,
  type RunState,
  readKeptState,
  readRunState,
} from '../../libs/store/index.js';
import { ExecutionNotFoundError, SnapshotNotKeptError, type StoredError } from '../errors.js';
import { showAllowList } from '../flows/allow-list-change.js';
import type { ExecutionStatus } from './execution.js';

/** One function in the call stack of a branch: its place, the source of that line, and the variables that are still needed. */
export interface InspectedFrame extends FrameDescription {
  sourceLine: string;
}

/** One branch of a run that waits, with its innermost frame first. */
export interface InspectedBranch extends Omit<BranchDescription, 'stack'> {
  stack: InspectedFrame[];
}

/** The state of a run. */
export interface Inspection {
  id: string;
  name: string;
  type: 'task' | 'workflow';
  version: string | null;
  status: ExecutionStatus;
  /** After which turn this was its state; null for the present one. */
  turn: number | null;
  /** Why it does not continue although it waits for nothing. */
  note: string | null;
  /** Why its branches cannot be shown, although it has a stored state. */
  unreadable: string | null;
  file: string | null;
  /** What every worker lets it name; a worker that has loaded the workflow with a narrower list allows less. */
  allow: FlowAllowList;
  /** The branches that wait, the main body's first; empty before the first turn, after the end, and for tasks. */
  branches: InspectedBranch[];
  /** Every durable call that is pending. */
  pending: PendingDescription[];
  /** Timers and timeouts to come. */
  timers: RunState['timers'];
  /** Signals that no wait has taken. */
  signals: RunState['signals'];
  /** Events that no turn has consumed. */
  events: RunState['events'];
  /** The same in lines for people. */
  text: string;
}

// The innermost places are enough; the rest is in the stored error.
const DEEPEST_STACK = 10;
// In the message about a state that is not kept.
const MOST_NAMED = 20;

/** Reads and explains the state of a run: the present one, or the one that it kept of a turn. */
export async function inspectRun(db: Runner, id: string, snapshots?: SnapshotStore, turn: number | null = null): Promise<Inspection> {
  const [record, stored, kept] = await Promise.all([
    getExecution(db, id),
    readRunState(db, id),
    turn === null ? undefined : readKeptState(db, id, turn),
  ]);
  if (!record) throw new ExecutionNotFoundError(id);
  // A step that has no row of its own has nothing but its input and its result.
  const present = stored ?? { ...NO_STATE, id, name: record.name };
  if (turn === null) return inspectState(db, record, present, turn, snapshots);
  if (!kept) throw new SnapshotNotKeptError(id, turn, (await listKeptStates(db, id, MOST_NAMED)).map((state) => state.turn).reverse());
  const { snapshot, snapshotRef, pendingCalls, storedAt } = kept;
  const timers = pendingCalls.flatMap(({ kind, call, dueAt }) =>
    dueAt === undefined ? [] : [{ kind: kind === 'wait' ? 'timeout' : 'timer', call, dueAt: new Date(dueAt).toISOString() }],
  );
  const state = { ...present, snapshot, snapshotRef, timers, signals: [], events: [] };
  // As it was then, whatever has become of it.
  const then = {
    ...record,
    status: 'suspended',
    note: `after turn ${turn}, ${new Date(storedAt).toISOString()}`,
    finishedAt: null,
    error: null,
  };
  return inspectState(db, then as ExecutionRecord, state, turn, snapshots);
}

async function inspectState(
  db: Runner,
  record: ExecutionRecord,
  state: RunState,
  turn: number | null,
  snapshots: SnapshotStore | undefined,
): Promise<Inspection> {
  const { version, file, source, timers, signals, events } = state;
  const { id, name, type, status, note } = record;
  const { snapshot, unreadable: unread } = await readSnapshot(state, snapshots);
  const described = snapshot === null ? { ...NOTHING, unreadable: unread } : await describeSnapshot(db, state, snapshot);
  const { pending, unreadable } = described;
  const lines = (source ?? '').split(/\r\n|[\n\r\u2028\u2029]/);
  const branches = described.branches.map((branch) => ({
    ...branch,
    stack: branch.stack.map((frame) => ({ ...frame, locals: { ...frame.locals }, sourceLine: lines[frame.line - 1] ?? '' })),
  }));
  const allow = intersectAllowLists(state.allow, state.currentAllow);
  const text = explain(record, branches, timers, lines, { allow, unreadable });
  return { id, name, type, version, status, turn, note, unreadable, file, allow, branches, pending, timers, signals, events, text };
}

async function readSnapshot(
  { snapshot, snapshotRef }: RunState,
  snapshots: SnapshotStore | undefined,
): Promise<{ snapshot: string | null; unreadable: string | null }> {
  if (snapshot !== null || snapshotRef === null) return { snapshot, unreadable: null };
  const unread = (why: string) => ({ snapshot: null, unreadable: `Its state is stored outside the database ("${snapshotRef}")${why}` });
  if (!snapshots) return unread(', and this process has no snapshotStore.');
  try {
    const text = await snapshots.get(snapshotRef);
    return text === undefined ? unread(', and the snapshot store has no such state.') : { snapshot: text, unreadable: null };
  } catch (error) {
    return unread(` and cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const NO_STATE = {
  ...{ version: null, snapshot: null, snapshotRef: null, source: null, allow: null, currentAllow: null, file: null },
  ...{ timers: [], signals: [], events: [] },
} satisfies Partial<RunState>;

const OUTCOMES = ['completed', 'failed', 'cancelled'];
const NOTHING = { branches: [], pending: [], unreadable: null };

// If the program is missing, or only a newer release can read the state, the rest of the run is still shown.
async function describeSnapshot(db: Runner, { name, version, events }: RunState, snapshot: string): Promise<Described> {
  const program = await getProgram(db, name, version ?? '', snapshotHeader(snapshot).fingerprint);
  if (program === undefined) return { ...NOTHING, unreadable: 'Its program is not in the database.' };
  try {
    // Their outcome is stored, and the run has not read it yet: it waits for others, or for its next turn.
    const ended = new Map(events.filter(({ kind }) => OUTCOMES.includes(kind)).map(({ call, kind }) => [call, kind]));
    return { ...describe(loadProgram(program), snapshot, ended), unreadable: null };
  } catch (error) {
    if (error instanceof FlowSnapshotError && error.code === 'FLOW_NEWER_FORMAT')
      return { ...NOTHING, unreadable: 'Only a newer release of nestjs-rhythm can read it.' };
    throw error;
  }
}

type Described = RunDescription & {
  /** Why the branches cannot be shown. */
  unreadable: string | null;
};

function explain(
  record: ExecutionRecord,
  branches: readonly InspectedBranch[],
  timers: RunState['timers'],
  source: readonly string[],
  { allow, unreadable }: { allow: FlowAllowList; unreadable: string | null },
): string {
  const lines = [`${record.type} "${record.name}" is ${record.status}${record.note ? `: ${record.note}` : ''}`];
  const ended = record.finishedAt !== null;
  const names = showAllowList(allow);
  if (names && !ended) lines.push(`may name ${names}`);
  if (unreadable) lines.push(`its state cannot be shown: ${unreadable}`);
  if (ended && record.error) lines.push(...explainError(record.error, record.type === 'workflow' ? source : []));
  // A run that has ended can continue only if it failed, and has no note that says why it cannot.
  const canContinue = !ended || (record.status === 'failed' && record.note === null);
  for (const { waitsFor, stack, calls } of canContinue ? branches : []) {
    const due = earliest(timers.filter((timer) => calls.includes(timer.call)));
    const state = ended ? 'a retry continues from the state in which it waited for' : 'waits for';
    lines.push(`${state} ${waitsFor}${due ? ` (due ${due})` : ''}`);
    for (const { function: name, file, line, column, sourceLine, locals } of stack) {
      lines.push(`  at ${name} (${file}:${line}:${column})`, `    ${line} | ${sourceLine}`);
      for (const [local, value] of Object.entries(locals)) lines.push(`      ${local} = ${shorten(JSON.stringify(value) ?? 'undefined')}`);
    }
  }
  if (record.type === 'task' && record.status === 'suspended') {
    const limit = earliest(timers.filter(({ kind }) => kind === 'deadline'));
    lines.push(`waits for CompletionService.complete(token) or fail(token)${limit ? ` (at the latest until ${limit})` : ''}`);
  }
  return lines.join('\n');
}

function earliest(timers: RunState['timers']): string | undefined {
  const [first] = timers.map(({ dueAt }) => new Date(dueAt).toISOString()).sort();
  return first;
}

// A flow's stack is in places of its source, so the line can be shown; a task's is in places of the host.
function explainError({ name, message, stack, cause }: StoredError, source: readonly string[]): string[] {
  const places = (stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const shown = places.slice(0, DEEPEST_STACK).flatMap((place) => {
    const line = Number(/:(\d+):\d+\)?\s*$/.exec(place)?.[1]);
    const text = source[line - 1];
    return [`  ${place.trim()}`, ...(text === undefined ? [] : [`    ${line} | ${text}`])];
  });
  return [`${name}: ${message}`, ...shown, ...(cause ? [`caused by ${cause.name}: ${cause.message}`] : [])];
}

function shorten(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
