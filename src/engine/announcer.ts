// After a commit: tells the loops, the other processes and the event stream what was written.

import { ANY, type TaskCommit, type TurnCommit } from '../../libs/store/index.js';
import type { CommitResult, FinishedWork } from './committer.js';
import type { HeldItem } from './held-work.js';
import type { Workplace } from './workplace.js';

type EndStatus = 'completed' | 'failed' | 'cancelled';

export class Announcer {
  constructor(
    private readonly place: Workplace,
    /** True when a child was taken at once and is in nobody's queue. */
    private readonly isTaken: (childId: string) => boolean,
  ) {}

  /** A group was written. */
  written(works: readonly FinishedWork[], results: readonly CommitResult[]): void {
    const queues = new Set<string>();
    works.forEach(({ items, task, turn, run = items[0] }, n) => {
      const result = results[n];
      if (task) this.task(items[0], task, result.task, turn !== undefined && result.turn, queues);
      if (turn) this.turn(run, turn, result.turn, queues);
    });
    this.place.wake(queues);
  }

  /** A task ended in a transaction of its own. */
  taskEnded(item: HeldItem, status: EndStatus): void {
    if (item.parentCall !== null) this.place.wake([ANY]);
    this.ended(item, status);
  }

  // `fused`: the parent has moved in the same commit and needs no wake.
  private task(item: HeldItem, task: TaskCommit, won: boolean, fused: boolean, queues: Set<string>): void {
    const { parts } = this.place;
    if (!won) return this.lost(item);
    if (task.status === 'pending') this.retried(item, task);
    else if (task.status !== 'suspended') {
      if (item.parentCall !== null && !fused) queues.add(ANY);
      this.ended(item, task.status);
    }
    // A cancel takes a task from whoever runs it.
    if (task.control) {
      this.place.lose(item.id, 'cancelled');
      parts.store.hints.hint('lost', item.id);
    }
  }

  private turn(run: HeldItem, turn: TurnCommit, won: boolean, queues: Set<string>): void {
    const { parts, loops } = this.place;
    if (!won) {
      queues.add(run.queue);
      return this.lost(run);
    }
    for (const child of turn.children) if (!this.isTaken(child.id)) queues.add(child.queue);
    for (const timer of turn.timers) loops.timers.dueIn(timer.delayMs ?? (timer.at as number) - this.place.now());
    if (turn.children.some((child) => child.options?.delayMs !== undefined)) parts.store.hints.hint('timer', ANY);
    if (turn.cascade || turn.cancels.length > 0 || turn.again || turn.replies.length > 0) queues.add(ANY);
    const { status } = turn;
    if (status === 'completed' || status === 'failed' || status === 'cancelled') {
      if (run.parentCall !== null) queues.add(ANY);
      this.ended(run, status);
    } else if (parts.events.heard) parts.events.emit({ type: 'suspended', executionId: run.id, name: run.name });
  }

  private ended(item: HeldItem, status: EndStatus): void {
    const { events, store } = this.place.parts;
    if (item.parentCall === null) store.hints.hint('ended', item.id);
    if (events.heard) events.emit({ type: 'finished', executionId: item.id, name: item.name, status, parentId: item.parentId });
  }

  private retried(item: HeldItem, task: TaskCommit): void {
    const { events } = this.place.parts;
    const delayMs = task.retryAfterMs ?? 0;
    this.place.loops.timers.dueIn(delayMs);
    if (!events.heard) return;
    events.emit({
      type: 'retried',
      executionId: item.id,
      name: item.name,
      attempt: task.attempts,
      delayMs,
      error: JSON.parse(task.error ?? '{}'),
    });
  }

  private lost(item: HeldItem): void {
    if (this.place.parts.events.heard) this.place.parts.events.emit({ type: 'lost', executionId: item.id, name: item.name });
  }
}
