// The outcome of a turn of a workflow: the run's new status, its state, the events it consumed and what it asked for.

import type { NewExecution } from '../new-execution.js';
import type { PendingStep } from '../pending-steps.js';
import type { WaitingRow } from '../waiting-rows.js';
import type { KeptState } from './kept-states.js';
import type { ParentCall } from './task-commit.js';

/** A timer or timeout to be set. */
export interface NewTimer {
  kind: 'timer' | 'timeout' | 'grace' | 'wake';
  call: number;
  /** Dated by the database's clock at the commit … */
  delayMs?: number;
  /** … or at a given time, in milliseconds. */
  at?: number;
}

/** A step without a row that ended in the turn that consumes its result. Payloads are JSON text. */
export interface EndedStep {
  call: number;
  /** The turns that started it and that consumed its result. */
  startedTurn: number;
  consumedTurn: number;
  name: string;
  input?: string;
  output?: string;
  /** Milliseconds by the database's clock, as the worker knows it. */
  startedAt: number;
  finishedAt: number;
  /** JSON text of its queue, priority and options, when they are not the usual ones. */
  unusual?: string;
}

/** The outcome of a turn of a workflow. */
export interface TurnCommit {
  id: string;
  bucket: number;
  fence: number;
  /** Its number, from 1; absent for what is not counted: a turn that failed, and what ends or puts off a run without one. */
  turn?: number;
  status: 'suspended' | 'pending' | 'paused' | 'completed' | 'failed' | 'cancelled';
  output?: string;
  error?: string;
  /** Why it does not move, when it has neither ended nor waits for anything. */
  note?: string;
  startedAt: number;
  /** In this turn the run received its cancellation. */
  cancelled?: boolean;
  parent?: ParentCall;
  /** `store`: this is the state now. `keep`: the old one stays (a failing turn). `leave`: nothing is touched. `drop`: the run is over. */
  state:
    | {
        action: 'store';
        snapshot: string | null;
        snapshotRef?: string;
        calls: number;
      }
    | { action: 'keep'; calls: number }
    | { action: 'leave' | 'drop' };
  /** The state is also kept for later. */
  kept?: KeptState;
  /** The steps without rows that the run has after the turn (`pendingText`); absent: those it had before. */
  pending?: string | null;
  /** Steps without rows that ended with this turn. */
  endedSteps: readonly EndedStep[];
  /** Steps without rows that this turn cancels; they are not among the pending ones any more. */
  cancelledSteps: readonly PendingStep[];
  /** Sequence numbers of the events and of the signals that were consumed. */
  events: readonly number[];
  signals: readonly number[];
  children: readonly NewExecution[];
  timers: readonly NewTimer[];
  /** Calls whose timers are deleted. */
  withdrawn: readonly number[];
  /** Calls whose tasks or child workflows are cancelled. */
  cancels: readonly number[];
  /** Why, as JSON text, for those of them that people cancelled by their ids; null without a reason. */
  cancelReasons?: ReadonlyMap<number, string | null>;
  /** The state that the run had outside the database is no longer needed, and whoever ends the run may not have the snapshot store. */
  discards?: boolean;
  /** Cancel every child that has not ended. */
  cascade?: boolean;
  /** Calls whose outcome is known at once: a child that is detached, a workflow that does not exist. Payloads are JSON text. */
  replies: readonly { call: number; kind: 'completed' | 'failed'; payload: string }[];
  groups: readonly { until: 'all' | 'settled'; members: readonly number[] }[];
  /** The members that the groups had left when the run was loaded; `undefined` when the run has no groups, `null` when that is not known. */
  remaining?: number | null;
  /** Calls whose steps the run no longer keeps. */
  oldSteps: readonly number[];
  logs: readonly { kind: string; at: number; detail: unknown }[];
  /** Notes and log lines kept per run. */
  keepNotes: number;
  /** Wake the run again at once. */
  again?: boolean;
  /** Fused: only if this task of the same commit won its fence. */
  needs?: number;
  /**
   * The turn was run without reading the stored events: it is written only if there are none, and no waiting signals but these
   * (sequence numbers). Signals matter only to a run that takes any.
   */
  unread?: { takesSignals: boolean; signals: readonly number[] };
  /** The run may have rows of what it waited for. */
  hadWaiting?: boolean;
  /** What it waits for now that it is let go; absent for a run that goes on or ends. */
  waiting?: readonly WaitingRow[];
}

const NONE: readonly never[] = Object.freeze([]);

/** A turn that does only what is given: no event is consumed, nothing is started. */
// Every field is written out, in one order: objects of one shape are small, and are copied and read fast.
export function turnCommit(
  given: Pick<TurnCommit, 'id' | 'bucket' | 'fence' | 'status' | 'startedAt' | 'state'> & Partial<TurnCommit>,
): TurnCommit {
  return {
    id: given.id,
    bucket: given.bucket,
    fence: given.fence,
    turn: given.turn,
    status: given.status,
    output: given.output,
    error: given.error,
    note: given.note,
    startedAt: given.startedAt,
    cancelled: given.cancelled,
    parent: given.parent,
    state: given.state,
    kept: given.kept,
    pending: given.pending,
    endedSteps: given.endedSteps ?? NONE,
    cancelledSteps: given.cancelledSteps ?? NONE,
    events: given.events ?? NONE,
    signals: given.signals ?? NONE,
    children: given.children ?? NONE,
    timers: given.timers ?? NONE,
    withdrawn: given.withdrawn ?? NONE,
    cancels: given.cancels ?? NONE,
    cancelReasons: given.cancelReasons,
    discards: given.discards,
    cascade: given.cascade,
    replies: given.replies ?? NONE,
    groups: given.groups ?? NONE,
    remaining: given.remaining,
    oldSteps: given.oldSteps ?? NONE,
    logs: given.logs ?? NONE,
    keepNotes: given.keepNotes ?? 0,
    again: given.again,
    needs: given.needs,
    unread: given.unread,
    hadWaiting: given.hadWaiting,
    waiting: given.waiting,
  };
}
