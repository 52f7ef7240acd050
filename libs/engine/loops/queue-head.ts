// Where in its queues a worker claims next: at their head, or behind the place where its last claim ended.

import type { Claim, QueuePlaces } from '../../store/index.js';
import type { Runtime } from '../runtime.js';

// A claim at the head steps over all rows that others hold or have just taken. So for this many times as long as it took, claims
// start further back.
const FURTHER_BACK = 10;

/** What the claims of a worker have found in its queues. */
export class QueueHead {
  private places: QueuePlaces | undefined;
  private claimedAt = Number.NEGATIVE_INFINITY;
  private tookMs = 0;
  /** The last claim took less than it asked for: the queues were empty a moment ago. */
  private short = true;

  constructor(
    /** A row in front of the place, because it was committed late, waits for a claim at the head no longer than for a poll. */
    private readonly pollMs: number,
    private readonly runtime: Runtime,
  ) {}

  get isShort(): boolean {
    return this.short;
  }

  /** Behind which places to claim now; `undefined`: from the head. */
  next(): QueuePlaces | undefined {
    const sinceMs = this.runtime.monotonicNow() - this.claimedAt;
    return sinceMs < Math.min(this.tookMs * FURTHER_BACK, this.pollMs) ? this.places : undefined;
  }

  /** A claim of at most `limit` has returned. Returns whether the queues are empty. */
  claimed({ taken, places }: Claim, limit: number, behind: QueuePlaces | undefined, sentAt: number): boolean {
    this.short = taken < limit;
    if (!behind) {
      this.claimedAt = this.runtime.monotonicNow();
      this.tookMs = this.claimedAt - sentAt;
    }
    this.places = this.short ? undefined : new Map([...(behind ?? []), ...places]);
    // A claim behind a place does not read the rows in front of it.
    return this.short && !behind;
  }

  /** A claim failed. Nothing is known about the queues. */
  failed(): void {
    this.short = true;
  }
}
