// Decides where in its queues a worker looks next: at their head, or behind the place it came to.

import type { Claim, QueuePlaces } from '../../libs/store/index.js';

// A look at the head steps over all that others hold or have just taken. Beside it, so many times as long is spent further back.
const ELSEWHERE = 10;

/** Where a worker came to in its queues. */
export class QueueHead {
  private places: QueuePlaces | undefined;
  private lookedAt = Number.NEGATIVE_INFINITY;
  private tookMs = 0;

  /** Whatever stands before the place, because it was committed late, waits for the head no longer than for a poll. */
  constructor(private readonly pollMs: number) {}

  /** Behind which places to claim now; `undefined`: from the head. */
  next(): QueuePlaces | undefined {
    return performance.now() - this.lookedAt < Math.min(this.tookMs * ELSEWHERE, this.pollMs) ? this.places : undefined;
  }

  /** A claim that asked for so many was answered. Answers whether the queues are empty. */
  claimed({ taken, places }: Claim, limit: number, behind: QueuePlaces | undefined, askedAt: number): boolean {
    const short = taken < limit;
    if (!behind) {
      this.lookedAt = performance.now();
      this.tookMs = this.lookedAt - askedAt;
    }
    this.places = short ? undefined : new Map([...(behind ?? []), ...places]);
    // Short of what stands behind a place says nothing of what stands before it.
    return short && !behind;
  }
}
