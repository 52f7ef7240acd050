// Moves what is due, exactly when it is due: the loop sleeps until the next row, and a nearer one wakes it.

import {
  ANY,
  commitWork,
  dropScheduled,
  isDatabaseError,
  moveDue,
  type Overdue,
  readOverdue,
  type Store,
  turnCommit,
  type WorkCommit,
} from '../../libs/store/index.js';
import { Alarm, Doorbell } from './alarm.js';
import { endLoop } from './end-loop.js';
import type { EngineEvents } from './engine-events.js';
import { cancelledError, timeoutError } from './error-data.js';
import { parentOf } from './task-runner.js';

export interface TimerLoopParts {
  store: Store;
  workerId: string;
  /** How often to look for rows that another process scheduled. */
  pollMs: number;
  events: EngineEvents;
  /** Work came to these queues. */
  woke(queues: readonly string[]): void;
  /** An execution was ended from here; whoever runs it must stop. */
  ended(executionId: string): void;
}

const BATCH = 1_000;
const OVERDUE_BATCH = 100;
const CHILDREN_CANCELLED = 'Its total timeout ended it together with the children it waited for, so it cannot continue. Start it anew.';

/** The timer loop of one worker. Every worker has one; rows that another is moving are skipped. */
export class TimerLoop {
  private readonly link;
  private readonly bell = new Doorbell();
  private readonly alarm = new Alarm(() => this.bell.ring());
  private readonly deaf: () => void;
  private running = true;
  private finished: Promise<void> = Promise.resolve();
  /** Less than usual after the server has cancelled a move: it may be too large for the time that it is allowed. */
  private batch = BATCH;

  constructor(private readonly parts: TimerLoopParts) {
    this.link = parts.store.link();
    this.deaf = parts.store.hints.on('timer', () => this.bell.ring());
  }

  start(): void {
    this.finished = this.loop();
  }

  /** Something was scheduled that is due after this many milliseconds. */
  dueIn(ms: number): void {
    this.alarm.within(Math.max(0, ms));
  }

  async stop(): Promise<void> {
    this.running = false;
    this.deaf();
    this.alarm.clear();
    this.bell.ring();
    await endLoop(this.finished, this.link);
  }

  private async loop(): Promise<void> {
    while (this.running) {
      let wait = this.parts.pollMs;
      try {
        const { moved, nextInMs, queues, overdue } = await moveDue(this.link, this.batch);
        if (queues.length > 0) this.parts.woke(queues);
        const moreOverdue = overdue && (await this.actOnOverdue());
        const full = moved >= this.batch;
        this.batch = Math.min(BATCH, this.batch * 2);
        if (full || moreOverdue) continue;
        if (nextInMs !== null) this.alarm.within(nextInMs);
      } catch (error) {
        if (!this.running) return;
        this.parts.events.emit({ type: 'trouble', where: 'timers', error });
        if (isDatabaseError(error)) this.batch = Math.max(1, Math.floor(this.batch / 4));
        wait = Math.min(wait, 1_000);
      }
      if (this.running) await this.bell.wait(wait);
    }
  }

  // Bounds of whole executions end them by a fenced write, so that complete ∥ cancel ∥ timeout has one winner. Answers whether
  // there may be more: a full batch of which something was settled.
  private async actOnOverdue(): Promise<boolean> {
    const overdue = await readOverdue(this.link, OVERDUE_BATCH);
    let settled = 0;
    const idle = overdue.filter((row) => isMoot(row));
    if (idle.length > 0) await dropScheduled(this.link, idle);
    settled += idle.length;
    for (const row of overdue.filter((one) => !isMoot(one))) {
      const { tasks, turns } = await commitWork(this.link, endOf(row, this.parts.workerId));
      if (tasks[0] || turns[0]) {
        settled++;
        this.parts.ended(row.id);
      }
      if (row.parentId) this.parts.woke([ANY]);
    }
    return overdue.length === OVERDUE_BATCH && settled > 0;
  }
}

function isMoot(row: Overdue): boolean {
  const over = row.type === null || ['completed', 'failed', 'cancelled'].includes(row.status);
  return over || (row.kind === 'start' && row.started) || (row.kind === 'grace' && !row.cancelled);
}

function endOf(row: Overdue, workerId: string): WorkCommit {
  // A run that is being cancelled ends as cancelled, whichever of its bounds comes first.
  const status = row.kind === 'grace' || row.cancelled ? ('cancelled' as const) : ('failed' as const);
  const error = JSON.stringify(errorOf(row));
  const parent = parentOf(row);
  const base = { id: row.id, bucket: row.bucket, fence: row.fence, error, parent, startedAt: Date.now() };
  if (row.type === 'task') {
    const task = { ...base, status, attempts: row.attempts, clearSchedule: true };
    return { workerId, tasks: [task], turns: [], claims: [], onlyUnstarted: row.kind === 'start' };
  }
  const turn = turnCommit({
    ...base,
    status,
    cancelled: status === 'cancelled',
    // Its children are of no use any more. A run that failed keeps its state, for a retry; but one whose children are cancelled
    // could only be told so: a cancelled child workflow has lost its state and cannot be run again under its number.
    note: status === 'failed' && row.hasChildren ? CHILDREN_CANCELLED : undefined,
    cascade: true,
    state: { action: status === 'failed' ? 'leave' : 'drop' },
    // A child that counts a group down at this moment wakes nobody: the end of the groups does.
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
