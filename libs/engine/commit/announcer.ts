// After a commit: wakes the loops of this worker, sends hints to other processes, and emits events.

import { pendingCalls } from '../../flow/index.js';
import { ANY, type Overdue, type TaskCommit, type TurnCommit } from '../../store/index.js';
import type { ErrorFacts, ExecutionFacts } from '../engine-events.js';
import type { WorkerParts } from '../engine-options.js';
import { errorFacts, factsOf } from '../execution-facts.js';
import type { Wakeups } from '../loops/wakeups.js';
import type { Note } from '../turns/turn-notes.js';
import type { DatabaseClock } from '../work/database-clock.js';
import type { HeldItem } from '../work/held-work.js';
import { lostHint, type Stopper } from '../work/stopper.js';
import type { CommitResult, FinishedWork } from './finished-work.js';

type EndStatus = 'completed' | 'failed' | 'cancelled';

export class Announcer {
  private readonly served: ReadonlySet<string>;

  constructor(
    private readonly parts: WorkerParts,
    private readonly wakeups: Wakeups,
    private readonly clock: DatabaseClock,
    private readonly stopper: Stopper,
  ) {
    this.served = new Set(parts.options.queues);
  }

  /** A group was written. */
  written(works: readonly FinishedWork[], results: readonly CommitResult[]): void {
    const queues = new Set<string>();
    works.forEach((given, n) => {
      const result = results[n];
      const work = result.instead ?? given;
      const { items, task, turn, run = items[0] } = work;
      if (task) this.task(items[0], task, result.task, turn !== undefined && result.turn, queues);
      if (work.steps && result.turn) for (const step of work.steps) this.ended(step, 'completed', 1, step.claimedAt);
      if (turn) this.turn(run, turn, work, result, queues);
    });
    this.wake(queues);
  }

  /** A task ended in a transaction of its own. */
  taskEnded(item: HeldItem, status: EndStatus): void {
    if (item.parentCall !== null) this.wake([ANY]);
    this.ended(item, status, item.attempts + 1, item.claimedAt);
  }

  /** An execution was ended by one of its time limits; the worker that runs it must stop. */
  endedByTimer(row: Overdue, status: EndStatus, error: ErrorFacts): void {
    const { hints } = this.parts.store;
    const { events } = this.parts;
    const since = row.type === 'task' ? this.stopper.running(row.id)?.claimedAt : row.createdAt;
    this.stopper.stop(row.id, 'lost');
    if (status === 'failed' && row.options?.onFailure) this.wake([row.options.onFailure.queue]);
    hints.hint('lost', lostHint(row.id, row.fence));
    hints.hint('ended', row.id);
    const facts: ExecutionFacts = {
      executionId: row.id,
      name: row.name,
      kind: row.type === 'task' ? 'task' : 'workflow',
      queue: row.queue,
      version: row.version,
      parentId: row.parentId,
    };
    const attempts = row.type === 'task' ? row.attempts : 1;
    if (status === 'failed' && events.hasListeners('failed')) {
      const { name, message, code } = error;
      events.emit({ type: 'failed', ...facts, attempts, error: { name, message, code } });
    }
    if (events.hasListeners('finished'))
      events.emit({ type: 'finished', ...facts, status, attempts, durationMs: since === undefined ? null : duration(since, row.now) });
  }

  /** There is work in these queues: the claim loop of this worker is woken, and the workers of other queues get a hint. */
  wake(queues: Iterable<string>): void {
    let any = false;
    for (const queue of queues) {
      any = true;
      if (!this.served.has(queue)) this.parts.store.hints.hint('work', queue);
    }
    if (any) this.wakeups.claims.trigger();
  }

  // `fused`: the parent has moved in the same commit and needs no wake.
  private task(item: HeldItem, task: TaskCommit, won: boolean, fused: boolean, queues: Set<string>): void {
    if (!won) return this.lost(item);
    if (task.status === 'pending') this.retried(item, task);
    else if (task.status !== 'suspended') {
      if (item.parentCall !== null && !fused) queues.add(ANY);
      // A cancel has a claim of its own; the attempt that it ends may run on any worker.
      const since = task.control ? this.stopper.running(item.id)?.claimedAt : item.claimedAt;
      // The stored count is of attempts that failed.
      this.ended(item, task.status, task.status === 'completed' ? task.attempts + 1 : task.attempts, since, task.error);
    }
    // A cancel takes a task from the worker that runs it.
    if (task.control) {
      this.stopper.stop(item.id, 'cancelled');
      this.parts.store.hints.hint('lost', lostHint(item.id, item.fence));
    }
  }

  private turn(run: HeldItem, turn: TurnCommit, { notes, snapshot }: FinishedWork, result: CommitResult, queues: Set<string>): void {
    const { store, events, options } = this.parts;
    if (!result.turn) {
      queues.add(run.queue);
      return this.lost(run);
    }
    this.queuesOf(turn, result, queues);
    for (const timer of turn.timers) this.wakeups.timers.scheduled(timer.delayMs ?? (timer.at as number) - this.clock.now());
    if (turn.children.some((child) => child.options?.delayMs !== undefined)) store.hints.hint('timer', ANY);
    if (turn.cascade || turn.cancels.length > 0 || turn.again || turn.replies.length > 0) queues.add(ANY);
    if (notes) this.noted(run, notes);
    if (snapshot && snapshot.length > options.snapshotWarnBytes && events.hasListeners('snapshot-large'))
      events.emit({ type: 'snapshot-large', ...factsOf(run), bytes: Buffer.byteLength(snapshot) });
    const { status } = turn;
    if (status === 'completed' || status === 'failed' || status === 'cancelled') {
      if (run.parentCall !== null) queues.add(ANY);
      this.ended(run, status, 1, run.createdAt ?? undefined, turn.error);
    } else if (events.hasListeners('suspended')) {
      events.emit({
        type: 'suspended',
        ...factsOf(run),
        note: turn.note ?? null,
        get waitsFor() {
          return snapshot ? pendingCalls(snapshot) : [];
        },
      });
    }
  }

  // The queues of the children that this worker did not claim at once. Those it did are in the order of the children.
  private queuesOf({ children }: TurnCommit, { claimedAtOnce }: CommitResult, queues: Set<string>): void {
    let claimed = 0;
    for (const child of children) {
      if (claimedAtOnce[claimed]?.id === child.id) claimed++;
      else queues.add(child.queue);
    }
  }

  private noted(run: HeldItem, notes: readonly Note[]): void {
    const { events } = this.parts;
    const isTaken = events.hasListeners('signal-taken');
    const isFired = events.hasListeners('timer-fired');
    if (!isTaken && !isFired) return;
    for (const { kind, detail } of notes) {
      const { signal, call } = detail as { signal: string; call: number };
      if (isTaken && kind === 'signal-taken') events.emit({ type: 'signal-taken', ...factsOf(run), signal, call });
      else if (isFired && (kind === 'timer-fired' || kind === 'wait-timed-out'))
        events.emit({ type: 'timer-fired', ...factsOf(run), call });
    }
  }

  private ended(item: HeldItem, status: EndStatus, attempts: number, since: number | undefined, error?: string): void {
    const { events, store } = this.parts;
    if (item.parentCall === null) store.hints.hint('ended', item.id);
    if (status === 'failed' && item.options?.onFailure) this.wake([item.options.onFailure.queue]);
    if (status === 'failed' && events.hasListeners('failed'))
      events.emit({ type: 'failed', ...factsOf(item), attempts, error: errorFacts(error) });
    if (!events.hasListeners('finished')) return;
    const durationMs = since === undefined ? null : duration(since, this.clock.now());
    events.emit({ type: 'finished', ...factsOf(item), status, attempts, durationMs });
  }

  private retried(item: HeldItem, task: TaskCommit): void {
    const { events } = this.parts;
    const delayMs = task.retryAfterMs ?? 0;
    this.wakeups.timers.scheduled(delayMs);
    if (!events.hasListeners('retried')) return;
    events.emit({ type: 'retried', ...factsOf(item), attempt: task.attempts, delayMs, error: errorFacts(task.error) });
  }

  private lost(item: HeldItem): void {
    const { events } = this.parts;
    if (events.hasListeners('lost')) events.emit({ type: 'lost', ...factsOf(item) });
  }
}

function duration(since: number, until: number): number {
  return Math.max(0, Math.round(until - since));
}
