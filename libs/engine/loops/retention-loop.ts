// Removes what is older than retention says, in small batches. One worker at a time does so; another goes on where it stopped.

import {
  dueDiscardedSnapshots,
  expireTombstones,
  LEFTOVER_TABLES,
  lockRetention,
  type RetentionStep,
  type Runner,
  removeLeftovers,
  retain,
  retrying,
} from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { removeDiscarded } from '../turns/discarded-states.js';
import { Loop } from './loop.js';
import { Wakeup } from './wakeup.js';

const LOOK = 1_000;
// With their calls. One statement removes a batch of 2,000 rows in about 40 ms.
const REMOVE = 2_000;
// A step that removed nothing has only read; living runs before those that have ended are passed at up to 10,000 per second.
const PAUSE_MS = 100;
const RETRY_MS = 5_000;

/** The retention loop of one worker. */
export class RetentionLoop extends Loop {
  /** Smaller than usual after the server has cancelled a step: that one may have been too large for the statement timeout. */
  private size = 1;

  constructor(parts: WorkerParts) {
    super('retention', parts.options.retention.pollMs, parts.store.link(), new Wakeup(parts.runtime), parts);
  }

  override start(): void {
    // Workers that start together do not look at the same time.
    const { pollMs } = this.parts.options.retention;
    super.start(Math.ceil(pollMs * (0.5 + this.parts.runtime.random() / 2)));
  }

  protected override async pass(): Promise<number> {
    const { retention } = this.parts.options;
    const step = await this.step();
    this.size = Math.min(1, this.size * 2);
    if (step.state === 'walking') return step.removed.length > 0 ? 0 : PAUSE_MS;
    if (step.state !== 'other') await this.tidy();
    await this.removeStates();
    return retention.pollMs;
  }

  protected override retryAfterMs(): number {
    this.size = Math.max(1 / LOOK, this.size / 4);
    return Math.min(RETRY_MS, this.parts.options.retention.pollMs);
  }

  private step(): Promise<RetentionStep> {
    const { retention } = this.parts.options;
    const bounds = { look: Math.ceil(LOOK * this.size), remove: Math.ceil(REMOVE * this.size), walkEveryMs: retention.walkEveryMs };
    return this.inTransaction((tx) => retain(tx, retention, bounds));
  }

  private async tidy(): Promise<void> {
    const { keysMs, walkEveryMs } = this.parts.options.retention;
    for (const table of LEFTOVER_TABLES) {
      let isOver = false;
      while (!isOver && this.running) {
        ({ isOver } = await this.inTransaction((tx) => removeLeftovers(tx, table, keysMs, { look: LOOK, walkEveryMs })));
        if (!isOver) await this.wakeup.wait(PAUSE_MS);
      }
    }
    if (keysMs === null) return;
    let expired = LOOK;
    while (expired === LOOK && this.running) {
      expired = await this.inTransaction(async (tx) => ((await lockRetention(tx)) ? expireTombstones(tx, keysMs, LOOK) : 0));
    }
  }

  // Only a worker that has the snapshot store can remove what is in it.
  private async removeStates(): Promise<void> {
    const { snapshots } = this.parts;
    if (!snapshots) return;
    let left = true;
    while (left && this.running) {
      const due = await dueDiscardedSnapshots(this.link, LOOK);
      await removeDiscarded(this.link, snapshots, due, (error) =>
        this.parts.events.emit({ type: 'problem', where: 'snapshot store', error }),
      );
      left = due.length === LOOK;
    }
  }

  private inTransaction<T>(work: (tx: Runner) => Promise<T>): Promise<T> {
    return retrying(() => this.link.transaction(work));
  }
}
