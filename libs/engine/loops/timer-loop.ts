// Moves what is due, exactly when it is due: the loop waits until the next row is due, and is woken for an earlier one.

import {
  ANY,
  commitWork,
  dropScheduled,
  isDatabaseError,
  isEnded,
  isLockTimeout,
  lockOverdue,
  moveDue,
  type Overdue,
  type Runner,
  readOverdue,
  readPending,
  turnCommit,
  type WorkCommit,
} from '../../store/index.js';
import type { Announcer } from '../commit/announcer.js';
import type { WorkerParts } from '../engine-options.js';
import { cancelledError, timeoutError } from '../error-data.js';
import { parentOf } from '../tasks/task-commits.js';
import { Loop } from './loop.js';
import type { Wakeup } from './wakeup.js';

const BATCH = 1_000;
const OVERDUE_BATCH = 100;
const RETRY_MS = 1_000;
const CHILDREN_CANCELLED = 'Its total timeout ended it together with the children it waited for, so it cannot continue. Start it again.';

/** The timer loop of one worker. Every worker has one; rows that another is moving are skipped. */
export class TimerLoop extends Loop {
  /** Smaller than usual after the server has cancelled a move: that one may have been too large for the statement timeout. */
  private batch = BATCH;

  constructor(
    parts: WorkerParts,
    wakeup: Wakeup,
    private readonly announcer: Announcer,
  ) {
    super('timers', parts.options.pollMs, parts.store.link(), wakeup, parts);
    // Scheduled by another process. What this worker schedules wakes the loop when it is written.
    this.subscriptions.push(parts.store.hints.on('timer', () => wakeup.trigger()));
  }

  protected override async pass(): Promise<number> {
    const { moved, nextInMs, queues, overdue } = await moveDue(this.link, this.batch);
    if (queues.length > 0) this.announcer.wake(queues);
    const moreOverdue = overdue && (await this.actOnOverdue());
    const full = moved >= this.batch;
    this.batch = Math.min(BATCH, this.batch * 2);
    if (full || moreOverdue) return 0;
    if (nextInMs !== null) this.wakeup.triggerWithin(nextInMs);
    return this.parts.options.pollMs;
  }

  protected override retryAfterMs(error: unknown): number {
    if (isDatabaseError(error)) this.batch = Math.max(1, Math.floor(this.batch / 4));
    return Math.min(this.parts.options.pollMs, RETRY_MS);
  }

  // Each in a commit of its own, fenced like any other, so that a cancel and a timeout have one winner. Returns whether there may
  // be more: a full batch of which something was settled.
  private async actOnOverdue(): Promise<boolean> {
    const overdue = await readOverdue(this.link, OVERDUE_BATCH);
    let settled = 0;
    const obsolete = overdue.filter((row) => isObsolete(row));
    if (obsolete.length > 0) await dropScheduled(this.link, obsolete);
    settled += obsolete.length;
    for (const row of overdue.filter((one) => !isObsolete(one))) {
      const ended = (await this.endAt(this.link, row)) ?? (await this.endLocked(row));
      if (ended) {
        settled++;
        this.announcer.endedByTimer(ended, statusOf(ended));
      }
      if (row.parentId) this.announcer.wake([ANY]);
    }
    return overdue.length === OVERDUE_BATCH && settled > 0;
  }

  // Returns the row that was ended, if its fence was not lost.
  private async endAt(db: Runner, row: Overdue): Promise<Overdue | undefined> {
    const { workerId, runtime } = this.parts;
    const { tasks, turns } = await commitWork(db, { ...endOf(row, workerId), fence: runtime.newFence() });
    return tasks[0] || turns[0] ? row : undefined;
  }

  // It has moved since it was read. A run that is always busy would do so again and again, and never reach its time limit.
  private async endLocked(row: Overdue): Promise<Overdue | undefined> {
    try {
      return await this.parts.store.db.transaction(async (tx) => {
        const now = await lockOverdue(tx, row);
        return now === undefined || isObsolete(now) ? undefined : this.endAt(tx, now);
      });
    } catch (error) {
      if (isLockTimeout(error)) return undefined;
      throw error;
    }
  }
}

function isObsolete(row: Overdue): boolean {
  const over = row.type === null || isEnded(row.status);
  return over || (row.kind === 'start' && row.started) || (row.kind === 'grace' && !row.cancelled);
}

// A run that is being cancelled ends as cancelled, whichever of its limits comes first.
function statusOf(row: Overdue): 'cancelled' | 'failed' {
  return row.kind === 'grace' || row.cancelled ? 'cancelled' : 'failed';
}

function endOf(row: Overdue, workerId: string): WorkCommit {
  const status = statusOf(row);
  const error = JSON.stringify(errorOf(row));
  const parent = parentOf(row);
  const base = { id: row.id, bucket: row.bucket, fence: row.fence, error, parent, startedAt: row.now };
  if (row.type === 'task') {
    const task = { ...base, status, attempts: row.attempts, clearSchedule: true };
    return { workerId, tasks: [task], turns: [], claims: [], onlyUnstarted: row.kind === 'start' };
  }
  const turn = turnCommit({
    ...base,
    status,
    cancelled: status === 'cancelled',
    // Its children are no longer needed. A run that failed keeps its state, for a retry; but if its children are cancelled, a retry
    // could only fail again: a cancelled child workflow has lost its state and cannot be run again under its number.
    note: status === 'failed' && row.hasChildren ? CHILDREN_CANCELLED : undefined,
    cascade: true,
    discards: status === 'cancelled',
    pending: row.pending === null ? undefined : null,
    cancelledSteps: readPending(row.pending),
    state: { action: status === 'failed' ? 'leave' : 'drop' },
    // A child that counts a group down at this moment does not wake the run: the end of the groups does.
    remaining: status === 'failed' ? undefined : null,
  });
  return { workerId, tasks: [], turns: [turn], claims: [] };
}

function errorOf(row: Overdue) {
  const what = `The ${row.type} "${row.name}"`;
  if (row.kind === 'grace') return cancelledError('The time to clean up after the cancel was over (cancel.grace).');
  if (row.kind === 'start') return { ...timeoutError(what, 0), message: `${what} did not start within ${row.options?.startTimeoutMs} ms.` };
  return timeoutError(what, row.options?.totalTimeoutMs ?? 0);
}
