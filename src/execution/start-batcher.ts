// Batches single starts: while one statement runs, all further starts gather for the next.

import {
  bucketOf,
  insertExecutions,
  isDatabaseError,
  isLockTimeout,
  type NewExecution,
  type Runner,
  rethrowMarked,
  retrying,
  type StartOutcome,
} from '../../libs/store/index.js';
import { HeldStarts } from './held-starts.js';

// The most that one statement carries, so that no start waits for the megabytes of others.
const MAX_ROWS = 1_000;
const MAX_BYTES = 4 * 1024 * 1024;
// Two in flight keep the database busy while Node prepares the next; more would only make the batches smaller.
const IN_FLIGHT = 2;
// How long a statement waits for an id that another open transaction is starting. Usually that transaction is a statement like this
// one and commits within milliseconds. If not, the statement is split until that id is alone, which takes this long at each step.
const PATIENCE_MS = 20;

/** A start that is to be stored, and who waits for its outcome. */
export interface WaitingStart {
  execution: NewExecution;
  resolve(outcome: StartOutcome): void;
  reject(error: unknown): void;
}

/** Turns many concurrent single starts into few statements; each start has its own outcome and its own error. */
export class StartBatcher {
  private waiting: WaitingStart[] = [];
  private inFlight = 0;
  private readonly held: HeldStarts;

  constructor(private readonly db: Runner) {
    this.held = new HeldStarts(db);
  }

  /** Stores one execution, together with others that are being started at the same time. */
  start(execution: NewExecution): Promise<StartOutcome> {
    return new Promise((resolve, reject) => {
      if (this.held.has(execution.id)) return this.held.add({ execution, resolve, reject });
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

  private takeBatch(): WaitingStart[] {
    let bytes = 0;
    let rows = 0;
    for (const { execution } of this.waiting) {
      bytes += execution.input?.length ?? 0;
      if (rows > 0 && (rows >= MAX_ROWS || bytes > MAX_BYTES)) break;
      rows++;
    }
    return this.waiting.splice(0, rows);
  }

  private async send(batch: WaitingStart[]): Promise<void> {
    const sorted = sortedForLocking(batch, ({ execution }) => execution);
    try {
      const outcomes = await retrying(() =>
        insertExecutions(
          this.db,
          sorted.map(({ execution }) => execution),
          { patienceMs: PATIENCE_MS },
        ),
      ).catch(rethrowMarked);
      sorted.forEach((waiting, index) => {
        waiting.resolve(outcomes[index]!);
      });
    } catch (error) {
      if (isLockTimeout(error)) return this.sendApart(sorted);
      // One row with an invalid value fails alone: the others are stored one by one. An unknown outcome is that of all.
      if (batch.length === 1 || !isDatabaseError(error)) {
        for (const waiting of batch) waiting.reject(error);
      } else {
        for (const waiting of batch) await this.send([waiting]);
      }
    }
  }

  // Another open transaction is starting one of these ids. The others must not wait for it.
  private async sendApart(sorted: WaitingStart[]): Promise<void> {
    if (sorted.length === 1) return this.held.add(sorted[0]!);
    const middle = sorted.length >> 1;
    await this.send(sorted.slice(0, middle));
    await this.send(sorted.slice(middle));
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
