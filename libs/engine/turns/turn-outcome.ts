// The outcome of a turn, as something to be written.

import type { TurnResult } from '../../flow/index.js';
import {
  type KeptState,
  type LoadedRun,
  type PendingStep,
  pendingText,
  readPending,
  type StoredEvent,
  type TurnCommit,
  turnCommit,
} from '../../store/index.js';
import type { EngineOptions } from '../engine-options.js';
import { toErrorData } from '../error-data.js';
import { parentOf } from '../tasks/task-commits.js';
import type { HeldItem } from '../work/held-work.js';
import type { MadeCalls } from './kept-states.js';
import type { RunningFlow } from './programs.js';
import type { StepItem } from './steps-in-place.js';
import type { EffectRows } from './turn-effects.js';
import { cancelErrorOf, IN_MEMORY, sortSignals } from './turn-events.js';
import type { Note } from './turn-notes.js';
import { type CachedRun, memoryOf } from './vm-cache.js';

/** What a turn starts from: a run in memory, or its stored state. */
export type TurnState = { cached: CachedRun } | { loaded: LoadedRun };

/** The turn as it is to be written, and the run to keep in memory once it is. */
export interface TurnOutcome {
  commit: TurnCommit;
  keep?: CachedRun;
  /** The references of snapshots outside the row that are no longer needed once the turn is written. */
  stale?: readonly string[];
  /** The run of a fused turn. */
  run?: HeldItem;
  /** The steps without rows that the run has after the turn. */
  pending?: readonly PendingStep[];
  /** The steps without rows that end with the turn. */
  steps?: readonly StepItem[];
  /** For events. */
  notes?: readonly Note[];
  snapshot?: string | null;
}

/** The result of a turn that ran to its end. */
export type FinishedTurn = Exclude<TurnResult, { status: 'yielded' }>;

/** What is stored of a state besides the row of its run. */
export interface StoredApart {
  /** Where the state is stored, if not in the row. */
  snapshotRef?: string;
  /** It is kept for later. */
  kept?: KeptState;
  /** The calls that it waits for, while states are kept. */
  made?: MadeCalls;
  /** Where states are stored that no kept one needs; absent when none is kept. */
  unneeded?: readonly string[];
}

/** What a turn was given and what it made. */
export interface RunTurn extends StoredApart {
  result: FinishedTurn;
  flow: RunningFlow;
  takesSignals: boolean;
  events: readonly StoredEvent[];
  signals: readonly StoredEvent[];
  rows: EffectRows;
  notes: readonly Note[];
  /** The whole state, wherever it is stored. */
  snapshot: string | null;
  /** It ends in an error that a retry may mend. */
  failing: boolean;
}

/** The basis of a turn: a commit that changes nothing yet, and what is known of the run before the turn. */
export class TurnBasis {
  readonly commit: TurnCommit;
  readonly cached: CachedRun | undefined;
  readonly calls: number;
  /** Its number, if it counts. */
  readonly turn: number;
  readonly wasCancelled: boolean;
  readonly snapshotRef: string | undefined;
  /** The steps that have no rows. */
  private pending: readonly PendingStep[];
  /** A state was stored at the fence this turn starts from. */
  readonly hasState: boolean;

  constructor(
    private readonly item: HeldItem,
    state: TurnState,
    private readonly options: EngineOptions,
  ) {
    const loaded = 'loaded' in state ? state.loaded : undefined;
    const cached = 'cached' in state ? state.cached : undefined;
    this.cached = cached;
    this.hasState = cached !== undefined || (loaded !== undefined && (loaded.snapshot !== null || loaded.snapshotRef !== null));
    this.calls = loaded?.calls ?? cached?.calls ?? 0;
    this.turn = (loaded?.turns ?? cached?.turns ?? 0) + 1;
    this.wasCancelled = item.cancelled || (cached?.cancelled ?? false);
    this.snapshotRef = loaded?.snapshotRef ?? cached?.snapshotRef ?? undefined;
    this.pending = loaded ? readPending(loaded.pending) : (cached?.pending ?? NO_STEPS);
    this.commit = turnCommit({
      id: item.id,
      bucket: item.bucket,
      fence: item.fence,
      turn: this.turn,
      status: 'suspended',
      startedAt: item.claimedAt,
      parent: parentOf(item),
      state: { action: 'drop' },
      remaining: loaded ? (loaded.remaining ?? undefined) : cached?.grouped ? null : undefined,
      keepNotes: options.maxSteps,
      // A worker that has read the run does not know who let it go; before its first turn nobody has.
      hadWaiting: cached ? cached.hasWaiting : item.status !== 'pending',
    });
  }

  /** The steps without rows that the run has before the turn. */
  get steps(): readonly PendingStep[] {
    return this.pending;
  }

  /** Of a turn that ran to its end. */
  outcome(turn: RunTurn): TurnOutcome {
    const outcome = this.outcomeOf(turn);
    outcome.pending = this.pending;
    return outcome;
  }

  private outcomeOf(turn: RunTurn): TurnOutcome {
    const { result, rows, failing, notes } = turn;
    const cancelling = result.cancelled;
    const calls = Math.max(this.calls, rows.lastCall);
    // The commit that was made for this turn is changed in place: a copy per step was high in the profile.
    const { commit } = this;
    commit.children = rows.children;
    commit.timers = rows.timers;
    commit.withdrawn = rows.withdrawn;
    commit.cancels = rows.cancels;
    commit.logs = notes.length > 0 && this.options.maxSteps > 0 ? [...rows.logs, ...notes] : rows.logs;
    commit.replies = rows.replies;
    commit.cancelled = cancelling;
    commit.cascade = cancelling;
    if (turn.events.some(isStepCancel)) {
      commit.cancelReasons = new Map(turn.events.filter(isStepCancel).map(({ call, payload }) => [call, payload]));
      commit.cancels = [...commit.cancels, ...commit.cancelReasons.keys()];
    }
    if (this.pending.length > 0) this.cancelSteps(cancelling ? undefined : commit.cancels);
    const inbox = turn.signals.length > 0 ? turn.events.filter((event) => event.kind !== 'signal') : turn.events;
    // The last turn consumes results too; only a failing one does not, because a retry may run its steps again.
    if (!failing) commit.oldSteps = this.oldSteps(inbox, calls);

    if (result.status === 'suspended') return this.suspended(turn, result.groups, inbox, calls);
    // What the last turn waited for was there: its time limits, written with the end that deletes the others, would stay until they are due.
    commit.timers = NO_TIMERS;
    const stale = this.staleAfter(turn);
    if (this.wasCancelled || cancelling) {
      commit.status = 'cancelled';
      // What the clean-up threw, or the reason of the cancel: set in the turn that applies the cancel, and kept by the store afterwards.
      const own = result.status === 'failed' && result.error.name !== 'CancelledError' ? JSON.stringify(result.error) : undefined;
      commit.error = own ?? cancelErrorIn(turn);
      return { commit, stale, notes };
    }
    if (result.status === 'completed') {
      commit.status = 'completed';
      commit.output = result.output;
      return { commit, stale, notes };
    }
    // The snapshot before the turn and its events stay: a retry runs this turn again.
    commit.status = 'failed';
    commit.turn = undefined;
    commit.error = JSON.stringify(result.error);
    commit.state = { action: 'keep', calls };
    return { commit };
  }

  /** Of a run that cannot take its turn: a damaged snapshot fails its run, never the worker. */
  failed(error: unknown): TurnOutcome {
    const { commit, calls } = this;
    return {
      commit: { ...commit, turn: undefined, status: 'failed', error: JSON.stringify(toErrorData(error)), state: { action: 'keep', calls } },
    };
  }

  /** Of a run that has nothing to clean up, or cannot. */
  cancelledAtOnce(cancel: StoredEvent): TurnOutcome {
    this.cancelSteps(undefined);
    const discards = this.snapshotRef !== undefined;
    return { commit: { ...this.commit, status: 'cancelled', cancelled: true, cascade: true, discards, error: cancelErrorOf(cancel) } };
  }

  /** Of a run that needs what this worker does not have: nothing is consumed, and it is looked at again after this long. */
  waiting(note: string, afterMs: number): TurnOutcome {
    const { item, commit, calls } = this;
    return {
      commit: {
        ...commit,
        turn: undefined,
        hadWaiting: false,
        status: item.status === 'pending' || item.status === 'paused' ? item.status : 'suspended',
        note,
        timers: [{ kind: 'wake', call: 0, delayMs: afterMs }],
        state: { action: 'keep', calls },
      },
    };
  }

  private suspended(turn: RunTurn, groups: TurnCommit['groups'], inbox: readonly StoredEvent[], calls: number): TurnOutcome {
    const { item, commit, cached } = this;
    const { result, snapshot, snapshotRef } = turn;
    const { taken, left } = sortSignals(turn.signals, result.consumedSignals);
    commit.events = storedOf(inbox);
    commit.signals = taken;
    commit.groups = groups;
    commit.error = cancelErrorIn(turn);
    if (result.cancelled) commit.timers = [...commit.timers, { kind: 'grace', call: 0, delayMs: this.options.cancelGraceMs }];
    const inRow = snapshotRef === undefined ? snapshot : null;
    commit.state = { action: 'store', snapshot: inRow, snapshotRef, calls };
    commit.kept = turn.kept;
    const keep: CachedRun = {
      flow: turn.flow,
      takesSignals: turn.takesSignals,
      // One copy for the life of the cached run: copying it at every step was at the top of the profile.
      item: cached?.item === item ? item : { ...item },
      calls,
      turns: this.turn,
      signals: left,
      grouped: groups.length > 0,
      cancelled: this.wasCancelled || result.cancelled,
      hasWaiting: false,
      snapshotRef: snapshotRef ?? null,
      made: turn.made,
      pending: this.pending,
      ahead: cached?.ahead,
      // An isolated run is never kept: its state goes to a process of its own at each turn.
      bytes: turn.flow.elsewhere ? Number.POSITIVE_INFINITY : memoryOf(snapshot ?? '', left),
    };
    return {
      commit,
      keep,
      stale: this.staleAfter(turn),
      notes: turn.notes,
      snapshot,
      pending: this.pending,
      run: undefined,
      steps: undefined,
    };
  }

  private staleAfter({ unneeded }: RunTurn): readonly string[] | undefined {
    return unneeded ?? (this.snapshotRef === undefined ? undefined : [this.snapshotRef]);
  }

  // All steps without rows, or those of the given calls.
  private cancelSteps(calls: readonly number[] | undefined): void {
    const cancelled = calls === undefined ? this.pending : this.pending.filter(({ call }) => calls.includes(call));
    if (cancelled.length === 0) return;
    this.pending = calls === undefined ? NO_STEPS : this.pending.filter((step) => !cancelled.includes(step));
    this.commit.cancelledSteps = cancelled;
    this.commit.pending = pendingText(this.pending);
  }

  // Steps are numbered in one row, so the oldest beyond the limit are known by their number. One that had not ended when its number
  // passed the limit is dropped when its own result is consumed. They are dropped several at a time: to drop one costs as much as
  // to drop twenty, and half as much as the step itself.
  private oldSteps(consumed: readonly StoredEvent[], after: number): number[] {
    const { calls: before } = this;
    const { maxSteps } = this.options;
    const atATime = Math.max(1, Math.floor(maxSteps / 20));
    const limitOf = (calls: number) => Math.floor((calls - maxSteps) / atATime) * atATime;
    const old: number[] = [];
    for (let call = Math.max(1, limitOf(before) + 1); call <= limitOf(after); call++) old.push(call);
    for (const event of consumed) {
      const isResult = event.kind === 'completed' || event.kind === 'failed';
      if (isResult && event.call <= limitOf(before)) old.push(event.call);
    }
    return old;
  }
}

const isStepCancel = ({ kind }: StoredEvent) => kind === 'cancel-step';

function storedOf(events: readonly StoredEvent[]): readonly number[] {
  if (events.every(({ seq }) => seq === IN_MEMORY)) return NONE;
  return events.flatMap(({ seq }) => (seq === IN_MEMORY ? NONE : [seq]));
}

const NONE: readonly number[] = [];
const NO_STEPS: readonly PendingStep[] = [];
const NO_TIMERS: TurnCommit['timers'] = [];

// Only in the turn that applies the cancel.
function cancelErrorIn({ result, events }: RunTurn): string | undefined {
  const cancel = result.cancelled ? events.find((event) => event.kind === 'cancel') : undefined;
  return cancel && cancelErrorOf(cancel);
}
