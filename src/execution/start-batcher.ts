// Batches single starts: while one statement runs, all further starts gather for the next.

import {
  bucketOf,
  insertExecutions,
  isDatabaseError,
  type NewExecution,
  type Runner,
  rethrowMarked,
  retrying,
  type StartOutcome,
} from '../../libs/store/index.js';

// The most that one statement carries, so that no start waits for the megabytes of others.
const MAX_ROWS = 1_000;
const MAX_BYTES = 4 * 1024 * 1024;
// Two in flight keep the database busy while Node prepares the next; more would only make the batches smaller.
const IN_FLIGHT = 2;

interface Waiting {
  execution: NewExecution;
  resolve(outcome: StartOutcome): void;
  reject(error: unknown): void;
}

/** Turns many concurrent single starts into few statements; each start has its own outcome and its own error. */
export class StartBatcher {
  private waiting: Waiting[] = [];
  private inFlight = 0;

  constructor(private readonly db: Runner) {}

  /** Stores one execution, together with others that are being started at the same time. */
  start(execution: NewExecution): Promise<StartOutcome> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ execution, resolve, reject });
      // After the current turn of the event loop, so that starts made in it share a statement.
      if (this.waiting.length === 1) setImmediate(() => this.flush());
    });
  }

  private flush(): void {
    while (this.waiting.length > 0 && this.inFlight < IN_FLIGHT) {
      const batch = this.takeBatch();
      this.inFlight++;
      void this.send(batch).finally(() => {
        this.inFlight--;
        this.flush();
      });
    }
  }

  private takeBatch(): Waiting[] {
    let bytes = 0;
    let rows = 0;
    for (const { execution } of this.waiting) {
      bytes += execution.input?.length ?? 0;
      if (rows > 0 && (rows >= MAX_ROWS || bytes > MAX_BYTES)) break;
      rows++;
    }
    return this.waiting.splice(0, rows);
  }

  private async send(batch: Waiting[]): Promise<void> {
    try {
      const sorted = sortedForLocking(batch, ({ execution }) => execution);
      const outcomes = await retrying(() =>
        insertExecutions(
          this.db,
          sorted.map(({ execution }) => execution),
        ),
      ).catch(rethrowMarked);
      sorted.forEach((waiting, index) => {
        waiting.resolve(outcomes[index]!);
      });
    } catch (error) {
      // One row with an invalid value fails alone: the others are stored one by one. An unknown outcome is that of all.
      if (batch.length === 1 || !isDatabaseError(error)) {
        for (const waiting of batch) waiting.reject(error);
      } else {
        for (const waiting of batch) await this.send([waiting]);
      }
    }
  }
}

/**
 * In the order in which rows of one statement must be locked, so that two statements never wait for each other. No other
 * statement has new ids: they stay in the order of their starts, which is the order in which they will run.
 */
export function sortedForLocking<T>(items: readonly T[], executionOf: (item: T) => Pick<NewExecution, 'id' | 'fresh'>): T[] {
  if (items.every((item) => executionOf(item).fresh)) return [...items];
  return items
    .map((item) => ({ item, id: executionOf(item).id, bucket: bucketOf(executionOf(item).id) }))
    .sort((a, b) => a.bucket - b.bucket || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map(({ item }) => item);
}
