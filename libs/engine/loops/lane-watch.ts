// Decides when a worker claims from the other lanes of its queues: soon after a hint, otherwise no more often than it polls.

import type { Runtime } from '../runtime.js';

/** What a claim loop has seen of the lanes. It costs nothing while they are empty. */
export class LaneWatch {
  private present = false;
  private readAt = Number.NEGATIVE_INFINITY;
  /** The last claim was from these lanes: the main lane of the queues is claimed from before they are read again. */
  private hadTurn = false;

  constructor(
    private readonly pollMs: number,
    private readonly runtime: Runtime,
  ) {}

  /** Whether to read them now. */
  isDue(): boolean {
    return this.present && !this.hadTurn && this.runtime.monotonicNow() - this.readAt >= this.pollMs;
  }

  /** A claim has found that something is in them. */
  seen(): void {
    this.present = true;
  }

  /** Something was put into a lane of ours, or is left in one: it need not wait for the next poll. */
  hinted(): void {
    this.present = true;
    this.readAt = Number.NEGATIVE_INFINITY;
  }

  /** They are being read; the next claim shows whether something is still in them. */
  reading(): void {
    this.present = false;
    this.hadTurn = true;
    this.readAt = this.runtime.monotonicNow();
  }

  /** A claim of the main lane has returned. */
  mainClaimed(): void {
    this.hadTurn = false;
  }
}
