// Sends claimed executions to their lane: tasks to be run to one, workflows and tasks with events to the other.

import type { TaskLane } from '../tasks/task-lane.js';
import type { TurnLane } from '../turns/turn-lane.js';
import type { DatabaseClock } from './database-clock.js';
import type { HeldItem } from './held-work.js';
import type { PoisonGuard } from './poison-guard.js';
import type { Slots } from './slots.js';

export class Dispatcher {
  constructor(
    private readonly slots: Slots,
    private readonly clock: DatabaseClock,
    private readonly guard: PoisonGuard,
    private readonly tasks: TaskLane,
    private readonly turns: TurnLane,
  ) {}

  /** Runs the items of a claim. Never rejects. */
  async dispatch(claimed: HeldItem[]): Promise<void> {
    this.clock.read(claimed);
    // They keep their slots until those that may run have taken their own.
    this.slots.acquire('reserved', claimed.length);
    let turns: Promise<void> | undefined;
    try {
      const toRun: HeldItem[] = [];
      const withEvents: HeldItem[] = [];
      for (const item of await this.guard.admit(claimed)) {
        if (item.type !== 'task' || !item.run || item.readEventsFirst) withEvents.push(item);
        else toRun.push(item);
      }
      this.tasks.run(toRun);
      if (withEvents.length > 0) turns = this.turns.run(withEvents);
    } finally {
      this.slots.release('reserved', claimed.length);
    }
    await turns;
  }
}
