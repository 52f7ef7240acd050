// Runs one turn of a workflow: state and events in, something to be written out.

import { createHash } from 'node:crypto';
import {
  type ConsumedSignal,
  type FlowContext,
  type FlowEvent,
  type FlowHost,
  FlowSnapshotError,
  snapshotHeader,
  type TurnResult,
} from '../../libs/flow/index.js';
import { childId, type LoadedRun, rootOf, type StoredEvent, type TurnCommit, turnCommit } from '../../libs/store/index.js';
import type { EngineEvents } from './engine-events.js';
import type { EngineOptions, TaskSource } from './engine-options.js';
import { cancelledError, toErrorData } from './error-data.js';
import type { HeldItem } from './held-work.js';
import { OutOfReachError, SnapshotsOutOfReachError } from './out-of-reach.js';
import type { ProgramLoader, RunningFlow } from './programs.js';
import { SnapshotMissingError, type SnapshotStore } from './snapshot-store.js';
import { parentOf } from './task-runner.js';
import { type EffectRows, effectRows, versionsOf } from './turn-effects.js';
import { turnNotes } from './turn-notes.js';
import { type CachedRun, memoryOf } from './vm-cache.js';

/** What a turn starts from: a run in memory, or its stored state. */
export type TurnState = { cached: CachedRun } | { loaded: LoadedRun };

/** The turn as it is to be written, and the run to keep in memory once it is. */
export interface TurnOutcome {
  commit: TurnCommit;
  keep?: CachedRun;
  /** References of snapshots outside the row that are no longer needed once the turn is written. */
  stale?: string;
}

/** The sequence number of an event that was handed over in memory and never stored. */
export const IN_MEMORY = 0;

// A damaged program (its error has a code of the language) fails its run; everything else may pass.
async function reach<T>(fetch: () => Promise<T>): Promise<T> {
  try {
    return await fetch();
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw typeof code === 'string' && code.startsWith('FLOW_')
      ? error
      : new OutOfReachError('What the turn needs could not be fetched', error);
  }
}

async function reachSnapshots<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new SnapshotsOutOfReachError(what, error);
  }
}

/** A run that can take a turn now. */
type FoundRun = Pick<CachedRun, 'flow' | 'takesSignals'>;

type FinishedTurn = Exclude<TurnResult, { status: 'yielded' }>;

/** What a turn was given and what it made. */
interface RunTurn {
  rows: EffectRows;
  /** The whole state, wherever it is stored. */
  snapshot: string | null;
  stored: { snapshot: string | null; snapshotRef?: string };
  events: readonly StoredEvent[];
  signals: readonly StoredEvent[];
  takesSignals: boolean;
  /** It is told of its cancel in this turn; one that ends before that ends as it would have. */
  cancelling: boolean;
  /** It ends in an error that a retry may mend. */
  failing: boolean;
  host: FlowHost;
}

export interface TurnRunnerParts {
  programs: ProgramLoader;
  tasks: TaskSource;
  options: EngineOptions;
  events: EngineEvents;
  random: () => number;
  uuid: () => string;
  snapshots?: SnapshotStore;
}

// How long a run waits before it looks again for a program that the database does not have or this worker cannot read.
const MISSING_PROGRAM_MS = 15_000;

export class TurnRunner {
  constructor(private readonly parts: TurnRunnerParts) {}

  /** Runs a turn over all stored events of the run. */
  async run(item: HeldItem, state: TurnState, events: readonly StoredEvent[]): Promise<TurnOutcome> {
    const base = baseOf(item, state, this.parts.options.maxSteps);
    const cancel = events.find((event) => event.kind === 'cancel');
    const cancelling = cancel !== undefined && !base.wasCancelled;
    // Cancelled before its first turn: nothing to clean up, nothing to run.
    if (cancelling && 'loaded' in state && !state.loaded.snapshot && !state.loaded.snapshotRef)
      return { commit: this.cancelledAtOnce(item, base, cancel) };
    let found: FoundRun | Missing;
    try {
      found = 'cached' in state ? state.cached : await this.flowOf(item, state.loaded);
    } catch (error) {
      if (error instanceof OutOfReachError) throw error;
      // Another worker can run it, also the clean-up of a cancelled run; nothing of it is given up here.
      if (error instanceof FlowSnapshotError && error.code === 'FLOW_NEWER_FORMAT')
        return { commit: this.wait(item, base, `Waits for a worker with a newer release of nestjs-rhythm. ${error.message}`) };
      // As without its program, below.
      if (cancelling && error instanceof SnapshotMissingError) return { commit: this.cancelledAtOnce(item, base, cancel) };
      // A damaged snapshot quarantines its run, never the worker.
      return {
        commit: {
          ...base.commit,
          status: 'failed',
          error: JSON.stringify(toErrorData(error)),
          state: { action: 'keep', calls: base.calls },
        },
      };
    }
    // Without its program a cancelled run cannot clean up; it must not wait for ever either.
    if ('missing' in found)
      return { commit: cancelling ? this.cancelledAtOnce(item, base, cancel) : this.wait(item, base, `Waits for ${found.missing}`) };
    const { flow, takesSignals } = found;
    // Also for a run in memory: a list that was narrowed since its last turn holds for this one.
    const allow = this.parts.programs.allowList(item.name, item.version ?? '');
    flow.setAllowList(allow instanceof Promise ? await reach(() => allow) : allow);
    const fed = feed(events, base.wasCancelled);
    const host = new TurnHost(item, this.parts);
    const first = flow.turn(fed.events, host);
    const result = first.status === 'yielded' ? await this.drive(flow, host) : first;
    const asked = versionsOf(result.effects, this.parts.programs);
    const versions = asked && (await reach(() => asked));
    const failing = result.status === 'failed' && !base.wasCancelled && !result.cancelled;
    const rows = effectRows(item, result.effects, this.parts.tasks, versions, failing);
    const snapshot = result.status === 'suspended' ? flow.snapshot() : null;
    const outside = snapshot !== null && this.isLarge(item, snapshot) ? await this.putOutside(item, snapshot) : undefined;
    const stored = { snapshot: outside === undefined ? snapshot : null, snapshotRef: outside };
    const given = { events, signals: fed.signals, takesSignals };
    const turn = { ...given, rows, snapshot, stored, cancelling: result.cancelled, failing, host };
    return this.outcome(item, flow, result, base, turn);
  }

  private async flowOf(item: HeldItem, { snapshot: inRow, snapshotRef, input, calls }: LoadedRun): Promise<FoundRun | Missing> {
    const snapshot = inRow === null && snapshotRef !== null ? await this.external(snapshotRef) : inRow;
    const fingerprint = snapshot === null ? undefined : snapshotHeader(snapshot).fingerprint;
    const program = await reach(() => this.parts.programs.load(item.name, item.version ?? '', fingerprint));
    if (!program) return missing(item, fingerprint);
    const context = contextOf(item);
    const flow = snapshot === null ? program.start(input ?? undefined, context, calls) : program.restore(snapshot, context, calls);
    return { flow, takesSignals: program.takesSignals };
  }

  private async external(reference: string): Promise<string> {
    const { snapshots } = this.parts;
    const snapshot = await reachSnapshots(`The state "${reference}" cannot be read`, () => {
      if (!snapshots) throw new Error('This worker has no snapshotStore.');
      return snapshots.get(reference);
    });
    if (snapshot === undefined) throw new SnapshotMissingError(reference);
    return snapshot;
  }

  // Between slices the event loop gets its turn, so that the heart beats while a flow computes.
  private async drive(flow: RunningFlow, host: FlowHost): Promise<FinishedTurn> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const result = flow.turn([], host);
      if (result.status !== 'yielded') return result;
    }
  }

  private outcome(item: HeldItem, flow: RunningFlow, result: FinishedTurn, base: ReturnType<typeof baseOf>, turn: RunTurn): TurnOutcome {
    const { options } = this.parts;
    const { cancelling, stored } = turn;
    const cancelled = base.wasCancelled || cancelling;
    const calls = Math.max(base.calls, turn.rows.lastCall);
    // Into the one that was made for this turn: a copy per step stood high in the profile.
    const { commit } = base;
    commit.children = turn.rows.children;
    commit.timers = turn.rows.timers;
    commit.withdrawn = turn.rows.withdrawn;
    commit.cancels = turn.rows.cancels;
    commit.logs = turn.rows.logs;
    if (!turn.failing && options.maxSteps > 0) {
      const notes = turnNotes(result, turn.events, turn.signals, turn.host, result.status !== 'suspended');
      if (notes.length > 0) commit.logs = [...commit.logs, ...notes];
    }
    commit.replies = turn.rows.replies;
    commit.cancelled = cancelling;
    commit.cascade = cancelling;
    const inbox = turn.signals.length > 0 ? turn.events.filter((event) => event.kind !== 'signal') : turn.events;
    // The last turn consumes results too; only a failing one does not, because a retry may run its steps again.
    if (!turn.failing) commit.forget = this.forgotten(item, inbox, base.calls, calls);

    if (result.status === 'suspended') {
      const { taken, left } = sortSignals(turn.signals, result.consumedSignals);
      commit.events = inbox.map((event) => event.seq).filter((seq) => seq !== IN_MEMORY);
      commit.signals = taken;
      commit.groups = result.groups;
      commit.error = cancelError(turn);
      if (cancelling) commit.timers = [...commit.timers, { kind: 'grace', call: 0, delayMs: options.cancelGraceMs }];
      commit.state = { action: 'store', snapshot: stored.snapshot, snapshotRef: stored.snapshotRef, calls, known: base.known };
      commit.status = 'suspended';
      const keep: CachedRun = {
        flow,
        takesSignals: turn.takesSignals,
        // One copy for the life of the cached run: copying it at every step stood at the top of the profile.
        item: base.cached?.item === item ? item : { ...item },
        calls,
        signals: left,
        grouped: result.groups.length > 0,
        cancelled,
        snapshotRef: stored.snapshotRef ?? null,
        bytes: memoryOf(turn.snapshot ?? '', left),
      };
      return { commit, keep, stale: base.snapshotRef };
    }
    if (cancelled) {
      // What the clean-up threw, or the reason of the cancel: known in the turn that is told, kept by the store afterwards.
      const own = result.status === 'failed' && result.error.name !== 'CancelledError' ? JSON.stringify(result.error) : undefined;
      return {
        commit: { ...commit, status: 'cancelled', error: own ?? cancelError(turn), state: { action: 'drop' } },
        stale: base.snapshotRef,
      };
    }
    if (result.status === 'completed') {
      return { commit: { ...commit, status: 'completed', output: result.output, state: { action: 'drop' } }, stale: base.snapshotRef };
    }
    // The snapshot before the turn and its events stay: a retry runs this turn again.
    return { commit: { ...commit, status: 'failed', error: JSON.stringify(result.error), state: { action: 'keep', calls } } };
  }

  private isLarge(item: HeldItem, snapshot: string): boolean {
    const { options, events, snapshots } = this.parts;
    if (snapshot.length > options.snapshotWarnBytes) {
      events.emit({ type: 'snapshot-large', executionId: item.id, name: item.name, bytes: Buffer.byteLength(snapshot) });
    }
    return snapshots !== undefined && Buffer.byteLength(snapshot) > snapshots.thresholdBytes;
  }

  private putOutside(item: HeldItem, snapshot: string): Promise<string> {
    // Ids may hold any character; a name of a file must not, and has its limit.
    const name = `${createHash('sha256').update(item.id).digest('hex').slice(0, 32)}.${this.parts.uuid()}`;
    return reachSnapshots('Its state cannot be written', () => (this.parts.snapshots as SnapshotStore).put(name, snapshot));
  }

  // Steps are numbered in one row, so the oldest beyond the limit are known by their number. One that had not ended when its
  // number passed the limit goes when its own result is consumed. They go several at a time: to drop one costs as much as to
  // drop twenty, and half as much as the step itself.
  private forgotten(item: HeldItem, consumed: readonly StoredEvent[], before: number, after: number): string[] {
    const { maxSteps } = this.parts.options;
    const atATime = Math.max(1, Math.floor(maxSteps / 20));
    const limitOf = (calls: number) => Math.floor((calls - maxSteps) / atATime) * atATime;
    const ids: string[] = [];
    for (let call = Math.max(1, limitOf(before) + 1); call <= limitOf(after); call++) ids.push(childId(item.id, call));
    for (const event of consumed) {
      const answered = event.kind === 'completed' || event.kind === 'failed';
      if (answered && event.call <= limitOf(before)) ids.push(childId(item.id, event.call));
    }
    return ids;
  }

  private cancelledAtOnce(item: HeldItem, base: ReturnType<typeof baseOf>, cancel: StoredEvent): TurnCommit {
    return {
      ...base.commit,
      status: 'cancelled',
      cancelled: true,
      cascade: true,
      error: JSON.stringify(cancelledError(reasonOf(cancel))),
      parent: parentOf(item),
      state: { action: 'drop' },
    };
  }

  // For what this worker does not have; nothing is consumed, and it looks again after a while.
  private wait(item: HeldItem, base: ReturnType<typeof baseOf>, note: string): TurnCommit {
    return {
      ...base.commit,
      status: item.status === 'pending' || item.status === 'paused' ? item.status : 'suspended',
      note,
      timers: [{ kind: 'wake', call: 0, delayMs: MISSING_PROGRAM_MS }],
      state: { action: 'keep', calls: base.calls },
    };
  }
}

// A commit that changes nothing, and what is known of the run before the turn.
function baseOf(item: HeldItem, state: TurnState, maxSteps: number) {
  const loaded = 'loaded' in state ? state.loaded : undefined;
  const cached = 'cached' in state ? state.cached : undefined;
  const commit = turnCommit({
    id: item.id,
    bucket: item.bucket,
    fence: item.fence,
    status: 'suspended',
    startedAt: item.claimedAt,
    parent: parentOf(item),
    state: { action: 'drop' },
    remaining: loaded ? (loaded.remaining ?? undefined) : cached?.grouped ? null : undefined,
    keepNotes: maxSteps,
  });
  return {
    commit,
    cached,
    // A state was stored at the fence this turn starts from.
    known: cached !== undefined || (loaded !== undefined && (loaded.snapshot !== null || loaded.snapshotRef !== null)),
    calls: loaded?.calls ?? cached?.calls ?? 0,
    wasCancelled: item.cancelled || (cached?.cancelled ?? false),
    snapshotRef: loaded?.snapshotRef ?? cached?.snapshotRef ?? undefined,
  };
}

/** What a run needs and the database does not have, with what to do about it. */
interface Missing {
  missing: string;
}

function missing({ name, version }: HeldItem, fingerprint: string | undefined): Missing {
  const which = `version ${version} of workflow "${name}"`;
  return {
    missing:
      fingerprint === undefined
        ? `${which}, which is not in the database. Start a process that has this text, or restore the definition.`
        : `program ${fingerprint} of ${which}, which is not in the database. Start a process that has this text and the release of nestjs-rhythm that compiled it, or restore the row in workflow_programs.`,
  };
}

function reasonOf(cancel: StoredEvent): string | undefined {
  return cancel.payload === null ? undefined : (JSON.parse(cancel.payload) as string);
}

// Of the turn in which the run is told to cancel.
function cancelError({ cancelling, events }: { cancelling: boolean; events: readonly StoredEvent[] }): string | undefined {
  const cancel = cancelling ? events.find((event) => event.kind === 'cancel') : undefined;
  return cancel && JSON.stringify(cancelledError(reasonOf(cancel)));
}

const NO_SIGNALS: { taken: number[]; left: StoredEvent[] } = { taken: [], left: [] };

// Those that a wait took, by number, and those that stay.
function sortSignals(signals: readonly StoredEvent[], consumed: readonly ConsumedSignal[]): typeof NO_SIGNALS {
  if (signals.length === 0) return NO_SIGNALS;
  const keys = new Set(consumed.map(({ key }) => key));
  const isTaken = (signal: StoredEvent) => keys.has(String(signal.seq));
  return { taken: signals.filter(isTaken).map((signal) => signal.seq), left: signals.filter((signal) => !isTaken(signal)) };
}

// Stored events as the VM takes them, in their one order. A second cancel is no event: the run knows.
function feed(stored: readonly StoredEvent[], wasCancelled: boolean): { events: FlowEvent[]; signals: StoredEvent[] } {
  const events: FlowEvent[] = [];
  const signals: StoredEvent[] = [];
  let told = wasCancelled;
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
        if (!told) events.push({ kind, reason: reasonOf(one) });
        told = true;
    }
  }
  return { events, signals };
}

/** What a turn asks of its surroundings. */
class TurnHost implements FlowHost {
  constructor(
    private readonly item: HeldItem,
    private readonly parts: TurnRunnerParts,
  ) {}

  /** The database's time at the claim plus what has passed since, in milliseconds. */
  now(): number {
    return Math.floor(this.item.claimedAt + (performance.now() - this.item.claimedAtMonotonic));
  }

  random(): number {
    return this.parts.random();
  }

  uuid(): string {
    return this.parts.uuid();
  }
}

function contextOf(item: HeldItem): FlowContext {
  return {
    executionId: item.id,
    rootId: rootOf(item.id),
    parentId: item.parentId,
    workflow: item.name,
    version: item.version ?? '',
    startedAt: item.createdAt ?? item.claimedAt,
    tags: item.tags ?? [],
  };
}
