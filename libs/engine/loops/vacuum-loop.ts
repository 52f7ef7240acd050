// Keeps the queue tables clean while there is load; does nothing while there is none.

import { mayVacuum, type Runner, vacuumQueues } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import type { WorkerParts } from '../engine-options.js';
import { Doorbell } from './doorbell.js';
import { Loop } from './loop.js';

// Below this many finished executions since the last time there is nothing worth cleaning.
const WORTH_IT = 500;
// How many intervals to leave it to another worker that is vacuuming.
const LEFT_TO_OTHERS = 10;
const RETRY_MS = 5_000;

export class VacuumLoop extends Loop {
  private may: boolean | undefined;
  private cleanedAt = 0;

  constructor(
    parts: WorkerParts,
    private readonly asking: Runner,
    private readonly everyMs: number,
    private readonly committer: Committer,
  ) {
    super('vacuum', parts.store.link(), new Doorbell(parts.runtime), parts);
  }

  override start(): void {
    if (this.everyMs > 0) super.start(this.everyMs);
  }

  protected override async pass(): Promise<number> {
    const { everyMs, committer } = this;
    if (committer.written - this.cleanedAt < WORTH_IT) return everyMs;
    this.may ??= await mayVacuum(this.asking);
    if (!this.may) {
      // Only an owner's VACUUM does anything. `doctor` reports it, and autovacuum still runs.
      this.running = false;
      return everyMs;
    }
    this.cleanedAt = committer.written;
    const done = await vacuumQueues(this.asking, this.link);
    return done ? everyMs : everyMs * (1 + LEFT_TO_OTHERS);
  }

  protected override retryAfterMs(): number {
    return RETRY_MS;
  }
}
