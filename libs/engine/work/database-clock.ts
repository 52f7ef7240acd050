// The database's clock, as a worker reads it from its claims.

import type { Runtime } from '../runtime.js';
import type { HeldItem } from './held-work.js';

const CLOCK_SET_MS = 1_000;

export class DatabaseClock {
  private offset = Number.NEGATIVE_INFINITY;

  constructor(private readonly runtime: Runtime) {}

  /** Milliseconds since the epoch. Known from the first claim on. */
  now(): number {
    return this.runtime.monotonicNow() + this.offset;
  }

  /**
   * Reads the clock from a claim and dates its items by it, so that time does not go back within a run. A reply takes a moment, so
   * the highest reading is the nearest; a reading that is far off means that the clock itself was set.
   */
  read(items: readonly HeldItem[]): void {
    const [{ claimedAt, claimedAtMonotonic }] = items;
    const offset = claimedAt - claimedAtMonotonic;
    if (offset > this.offset || this.offset - offset > CLOCK_SET_MS) this.offset = offset;
    for (const item of items) item.claimedAt = item.claimedAtMonotonic + this.offset;
  }
}
