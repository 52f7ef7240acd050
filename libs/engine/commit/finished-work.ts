// Finished work on its way into the database, and what became of it.

import { type TaskCommit, type TurnCommit, turnCommit } from '../../store/index.js';
import { toErrorData } from '../error-data.js';
import { failedAtOnce, parentOf } from '../tasks/task-commits.js';
import type { ChosenSteps } from '../turns/steps-in-place.js';
import type { Note } from '../turns/turn-notes.js';
import type { HeldItem } from '../work/held-work.js';

/** Finished work that is written together: a task, a turn, or a task fused with the turn of its parent. */
export interface FinishedWork {
  /** The held items that end with it. */
  items: readonly HeldItem[];
  task?: TaskCommit;
  turn?: TurnCommit;
  /** The run of the turn; absent when it is the held item itself. */
  run?: HeldItem;
  /** The steps without rows that end with the turn. */
  steps?: readonly HeldItem[];
  /** The steps without rows that begin with the turn. */
  chosen?: ChosenSteps;
  /** What the turn did with signals and timers, for events. */
  notes?: readonly Note[];
  /** The whole state after the turn, wherever it is stored, for events. */
  snapshot?: string | null;
  /** There is nothing simpler to write in its place: if the database refuses its values, it is put off. */
  isLastResort?: boolean;
}

/** What became of it. Of `task` and `turn`, true: written; false: another worker has the execution, and everything is dropped. */
export interface CommitResult {
  task: boolean;
  turn: boolean;
  /** False after a write of unknown outcome: a lost fence may mean that the first try had succeeded. */
  certain: boolean;
  /** The fence of those that were written. */
  fence: number;
  /** Children of the turn that this worker has claimed in the same commit. */
  claimedAtOnce: readonly HeldItem[];
  /** The database refused the values, and this was written in their place. */
  instead?: FinishedWork;
}

/** Work that changes nothing; the claim of the item ends with it. */
export function nothingToWrite(item: HeldItem): FinishedWork {
  return { items: [item] };
}

/** The failure of an execution that did not run, or whose values the database refuses. State and events stay for a retry. */
export function failedWork(item: HeldItem, error: unknown): FinishedWork {
  const failure = item.type === 'task' ? { task: failedAtOnce(item, error) } : { turn: failedTurn(item, error) };
  return { items: [item], ...failure, isLastResort: true };
}

function failedTurn(item: HeldItem, error: unknown): TurnCommit {
  return turnCommit({
    id: item.id,
    bucket: item.bucket,
    fence: item.fence,
    status: item.cancelled ? 'cancelled' : 'failed',
    error: JSON.stringify(toErrorData(error)),
    startedAt: item.claimedAt,
    parent: parentOf(item),
    // A cancelled run is over; a failed one may be retried.
    state: { action: item.cancelled ? 'drop' : 'leave' },
    remaining: item.cancelled ? null : undefined,
    hadWaiting: item.status !== 'pending',
  });
}
