// Keeps the queue tables clean while there is load; does nothing while there is none.

import { mayVacuum, type Runner, type VacuumTimes, vacuumQueues } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import type { WorkerParts } from '../engine-options.js';
import { Loop } from './loop.js';
import { Wakeup } from './wakeup.js';

// With fewer finished executions since the last time a vacuum is not worth its cost.
const LEAST_WRITTEN = 500;
// How many intervals to wait while another worker vacuums.
const OTHERS_INTERVALS = 10;
const RETRY_MS = 5_000;

export class VacuumLoop extends Loop {
  private isOwner: boolean | undefined;
  private cleanedAt = 0;
  private readonly took: VacuumTimes = new Map();

  constructor(
    parts: WorkerParts,
    /** Takes the lock that only one worker can hold. */
    private readonly lockLink: Runner,
    private readonly everyMs: number,
    private readonly committer: Committer,
  ) {
    super('vacuum', everyMs, parts.store.link(), new Wakeup(parts.runtime), parts);
  }

  override start(): void {
    if (this.everyMs > 0) super.start(this.everyMs);
  }

  protected override async pass(): Promise<number> {
    const { everyMs, committer } = this;
    if (committer.written - this.cleanedAt < LEAST_WRITTEN) return everyMs;
    this.isOwner ??= await mayVacuum(this.lockLink);
    if (!this.isOwner) {
      // Only an owner's VACUUM does anything. `doctor` reports it, and autovacuum still runs.
      this.running = false;
      return everyMs;
    }
    this.cleanedAt = committer.written;
    const done = await vacuumQueues(this.lockLink, this.link, this.took, () => this.parts.runtime.monotonicNow());
    return done ? everyMs : everyMs * (1 + OTHERS_INTERVALS);
  }

  protected override retryAfterMs(): number {
    return RETRY_MS;
  }
}
