// Decides when a worker claims from the other lanes of its queues: soon after a hint, otherwise no more often than it polls.

import type { Runtime } from '../runtime.js';

/** What a claim loop knows about the lanes. It costs nothing while they are empty. */
export class LaneWatch {
  private present = false;
  private lookedAt = Number.NEGATIVE_INFINITY;
  /** The lanes came last: the main lane of the queues has its turn before they are looked at again. */
  private cameLast = false;

  constructor(
    private readonly pollMs: number,
    private readonly runtime: Runtime,
  ) {}

  /** Whether to look now. */
  isDue(): boolean {
    return this.present && !this.cameLast && this.runtime.monotonicNow() - this.lookedAt >= this.pollMs;
  }

  /** A claim saw that something is in them. */
  seen(): void {
    this.present = true;
  }

  /** Something was put into a lane of ours, or is left in one: it need not wait for the next poll. */
  hinted(): void {
    this.present = true;
    this.lookedAt = Number.NEGATIVE_INFINITY;
  }

  /** They are looked at now; the next claim shows whether something is still in them. */
  looked(): void {
    this.present = false;
    this.cameLast = true;
    this.lookedAt = this.runtime.monotonicNow();
  }

  /** A claim of the main lane has returned. */
  mainClaimed(): void {
    this.cameLast = false;
  }
}
