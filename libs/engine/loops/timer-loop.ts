// Moves what is due, exactly when it is due: the loop waits until the next row is due, and is woken for an earlier one.

import {
  ANY,
  commitWork,
  dropScheduled,
  isDatabaseError,
  isEnded,
  isLockTimeout,
  lockFreeOverdue,
  lockOverdue,
  moveDue,
  type Overdue,
  type Runner,
  readOverdue,
  readPending,
  retrying,
  type TimeLimit,
  turnCommit,
  type WorkCommit,
} from '../../store/index.js';
import type { Announcer } from '../commit/announcer.js';
import type { WorkerParts } from '../engine-options.js';
import { cancelledError, timeoutError } from '../error-data.js';
import { parentOf } from '../tasks/task-commits.js';
import { Loop } from './loop.js';
import type { TimerWakeup } from './timer-wakeup.js';

const BATCH = 1_000;
const OVERDUE_BATCH = 500;
const RETRY_MS = 1_000;
// A worker that has missed so many heartbeats no longer leads, long before it is declared dead.
const BEATS_OF_LEADER = 3;
const CHILDREN_CANCELLED = 'Its total timeout ended it together with the children it waited for, so it cannot continue. Start it again.';

/**
 * The timer loop of one worker. Every worker has one; rows that another is moving are skipped. One of them leads: it wakes exactly when
 * the next row is due, and the others only for what they scheduled themselves. All of them poll, so that after the death of
 * the leader nothing is later than a poll.
 */
export class TimerLoop extends Loop {
  /** Smaller than usual after the server has cancelled a statement: that one may have been too large for the statement timeout. */
  private batch = BATCH;
  private leads = true;
  /** The first time limits that this worker has left to whoever has their executions locked. */
  private skipped = 0;
  private settled = 0;
  /** The execution that waits in line for its lock, to be ended then. */
  private inLine: string | undefined;
  private waiting: Promise<void> | undefined;

  constructor(
    parts: WorkerParts,
    protected override readonly wakeup: TimerWakeup,
    private readonly announcer: Announcer,
  ) {
    super('timers', parts.options.pollMs, parts.store.link(), wakeup, parts);
    // Scheduled by another process. What this worker schedules wakes the loop when it is written.
    this.subscriptions.push(
      parts.store.hints.on('timer', () => {
        if (this.leads) wakeup.trigger();
      }),
    );
  }

  protected override async pass(): Promise<number> {
    const { pollMs, heartbeatMs } = this.parts.options;
    const mover = { workerId: this.parts.workerId, aliveMs: BEATS_OF_LEADER * heartbeatMs };
    const { moved, nextInMs, queues, overdue, leads } = await moveDue(this.link, this.batch, mover);
    // The leader may not learn of a start of this process by a hint.
    this.leads = leads || !this.parts.store.hints.listening;
    if (queues.length > 0) this.announcer.wake(queues);
    const moreOverdue = overdue && (await this.endOverdue());
    const full = moved >= this.batch;
    this.batch = Math.min(BATCH, this.batch * 2);
    if (full || moreOverdue) return 0;
    if (nextInMs !== null && (this.leads || this.wakeup.isOwn(nextInMs))) this.wakeup.triggerWithin(nextInMs);
    return pollMs;
  }

  protected override retryAfterMs(error: unknown): number {
    if (isDatabaseError(error)) this.batch = Math.max(1, Math.floor(this.batch / 4));
    return Math.min(this.parts.options.pollMs, RETRY_MS);
  }

  protected override async end(): Promise<void> {
    await this.waiting;
  }

  // Ends one batch, and returns whether there may be more. What others have locked is skipped: a worker that ends the same batch, or one
  // that moves an execution at this moment. So several workers end different batches.
  private async endOverdue(): Promise<boolean> {
    const most = Math.min(OVERDUE_BATCH, this.batch);
    const limits = await readOverdue(this.link, most, this.skipped);
    const left = await this.endFree(limits.filter(({ id }) => id !== this.inLine));
    const inLine = limits.filter(({ id }) => id === this.inLine);
    left.push(...inLine);
    this.settled += limits.length - left.length;
    this.skipped += left.length;
    if (left.length > inLine.length) this.endWhenFree(left[Math.floor(this.parts.runtime.random() * (left.length - inLine.length))]);
    if (limits.length === most) return true;
    // The last batch. Once more from the first, if something was left there and something else was ended meanwhile.
    const again = this.skipped > 0 && this.settled > 0;
    this.skipped = this.settled = 0;
    return again;
  }

  // Returns those that somebody else has locked. What skips locked rows does not stand in line for them: it could pass those who do at the
  // moment when the lock is given up. So this is not done with the one that waits in line.
  private async endFree(limits: readonly TimeLimit[]): Promise<TimeLimit[]> {
    const { db } = this.parts.store;
    const { found, ended } = await retrying(() =>
      db.transaction(async (tx) => {
        const read = await lockFreeOverdue(tx, limits);
        return { found: read, ended: await this.endLocked(tx, read) };
      }),
    );
    this.announce(ended);
    const seen = new Set(found.map(keyOf));
    return limits.filter((limit) => !seen.has(keyOf(limit)));
  }

  // One of those that are locked by somebody else: a run that is always busy would move again and again, and never reach its time
  // limit. This one waits in line for the lock. The loop does not wait for it.
  private endWhenFree(limit: TimeLimit): void {
    if (this.waiting) return;
    this.inLine = limit.id;
    this.waiting = this.endInLine(limit)
      .catch((error: unknown) => {
        if (this.running && !isLockTimeout(error)) this.parts.events.emit({ type: 'problem', where: 'timers', error });
      })
      .finally(() => {
        this.waiting = this.inLine = undefined;
        this.wakeup.trigger();
      });
  }

  private async endInLine(limit: TimeLimit): Promise<void> {
    const ended = await this.parts.store.db.transaction(async (tx) => {
      const locked = await lockOverdue(tx, limit);
      return locked === undefined ? [] : this.endLocked(tx, [locked]);
    });
    this.announce(ended);
  }

  // In one commit, fenced like any other, so that a cancel and a timeout have one winner. The executions are locked, so it loses none.
  private async endLocked(tx: Runner, rows: readonly Overdue[]): Promise<Overdue[]> {
    const { workerId, runtime } = this.parts;
    const obsolete = rows.filter(isObsolete);
    if (obsolete.length > 0) await dropScheduled(tx, obsolete);
    // Of several limits of one execution the first ends it.
    const first = new Map<string, Overdue>();
    for (const row of rows) if (!isObsolete(row) && !first.has(row.id)) first.set(row.id, row);
    const ends = [...first.values()];
    if (ends.length === 0) return [];
    const works = ends.map((row) => endOf(row, workerId));
    const work = { workerId, tasks: works.flatMap(({ tasks }) => tasks), turns: works.flatMap(({ turns }) => turns), claims: [] };
    const won = await commitWork(tx, { ...work, fence: runtime.newFence() });
    const ids = new Set([
      ...work.tasks.filter((_, n) => won.tasks[n]).map(({ id }) => id),
      ...work.turns.filter((_, n) => won.turns[n]).map(({ id }) => id),
    ]);
    return ends.filter(({ id }) => ids.has(id));
  }

  private announce(ended: readonly Overdue[]): void {
    for (const row of ended) this.announcer.endedByTimer(row, statusOf(row), errorOf(row));
    if (ended.some(({ parentId }) => parentId !== null)) this.announcer.wake([ANY]);
  }
}

function keyOf({ id, kind }: TimeLimit): string {
  return `${kind} ${id}`;
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
    return { workerId, tasks: [task], turns: [], claims: [] };
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
    hadWaiting: row.status !== 'pending',
  });
  return { workerId, tasks: [], turns: [turn], claims: [] };
}

function errorOf(row: Overdue) {
  const what = `The ${row.type} "${row.name}"`;
  if (row.kind === 'grace') return cancelledError('The time to clean up after the cancel was over (cancel.grace).');
  if (row.kind === 'start') return { ...timeoutError(what, 0), message: `${what} did not start within ${row.options?.startTimeoutMs} ms.` };
  return timeoutError(what, row.options?.totalTimeoutMs ?? 0);
}
