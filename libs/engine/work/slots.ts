// How much this worker may take on: the only owner of its counters.

import type { Wakeup } from '../loops/wakeup.js';

/**
 * `claiming`: asked for by a claim that has not returned. `reserved`: may become a task in a moment (claimed and not dispatched yet,
 * or chosen as a child of a commit that is being written). `task`: runs. `turn`: its events are being read or its turn is being run.
 */
export type SlotKind = 'claiming' | 'reserved' | 'task' | 'turn';

/** The slots of one worker. A released slot wakes the claim loop if that waits for room. */
export class Slots {
  private readonly taken: Record<SlotKind, number> = { claiming: 0, reserved: 0, task: 0, turn: 0 };
  private isWaitedFor = false;

  constructor(
    private readonly concurrency: number,
    private readonly claims: Wakeup,
  ) {}

  /** How many more executions may be claimed now. Turns are short and are not tasks: each kind has its own limit. */
  free(): number {
    return Math.min(this.freeForTasks(), this.concurrency - this.taken.turn);
  }

  /** How many more tasks may run here, besides those that run, will run, or may come with a claim that has not returned. */
  freeForTasks(): number {
    const { claiming, reserved, task } = this.taken;
    return this.concurrency - task - reserved - claiming;
  }

  acquire(kind: SlotKind, count = 1): void {
    this.taken[kind] += count;
  }

  release(kind: SlotKind, count = 1): void {
    this.taken[kind] -= count;
    this.roomFreed();
  }

  /** There may be room again. */
  roomFreed(): void {
    if (this.isWaitedFor) this.claims.trigger();
  }

  /** The claim loop found no room. */
  waitForRoom(): void {
    this.isWaitedFor = true;
  }

  stopWaiting(): void {
    this.isWaitedFor = false;
  }
}
