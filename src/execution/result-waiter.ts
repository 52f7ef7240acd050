// Waits for executions to end: woken by hints, and by one poll for all waiters together.

import { ANY, isEnded, readResults, type Store } from '../../libs/store/index.js';
import {
  ExecutionCancelledError,
  ExecutionFailedError,
  ExecutionNotFoundError,
  ResultExpiredError,
  ResultTimeoutError,
  RhythmError,
} from '../errors.js';
import { parse } from './execution.js';

/** How long to wait for a result. */
export interface WaitOptions {
  timeoutMs?: number;
  signal?: AbortSignal;
}

interface Waiter {
  settle(row: ResultRow | undefined): void;
  fail(error: unknown): void;
  status: string;
}

type ResultRow = Awaited<ReturnType<typeof readResults>>[number];

// A poll is one read by primary key for all waiters together. Polls become rarer while nothing ends, and a hint triggers one at once.
const FIRST_POLL_MS = 20;
const LONGEST_POLL_MS = 1_000;
const MAX_IDS = 1_000;

/** The waiters of one process. */
export class ResultWaiter {
  private readonly waiters = new Map<string, Set<Waiter>>();
  private timer: NodeJS.Timeout | undefined;
  private interval = FIRST_POLL_MS;
  private isPolling = false;
  private pollAgain = false;
  private closed = false;
  private unsubscribe: (() => void) | undefined;

  constructor(private readonly store: Store) {}

  /** The result of an execution, as soon as it has ended; rejects with its error. */
  async wait(id: string, { timeoutMs, signal }: WaitOptions): Promise<unknown> {
    const row = await this.ended(id, timeoutMs, signal);
    if (row.status === 'completed') return parse(row.output);
    if (row.status === 'expired' || row.status === 'removed') throw new ResultExpiredError(id, row.status);
    if (row.status === 'cancelled') throw new ExecutionCancelledError(id, row.error?.message);
    throw new ExecutionFailedError(id, row.error ?? { name: 'Error', message: 'unknown error' });
  }

  /** Rejects everything that still waits. */
  close(): void {
    this.closed = true;
    this.unsubscribe?.();
    clearTimeout(this.timer);
    for (const set of [...this.waiters.values()]) for (const waiter of [...set]) waiter.fail(shuttingDown());
  }

  private ended(id: string, timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<ResultRow> {
    if (this.closed) return Promise.reject(shuttingDown());
    // Not before the first wait: a process that waits for nothing should not be notified of every end.
    this.unsubscribe ??= this.store.hints.on('ended', (each) => {
      if (each === ANY ? this.waiters.size > 0 : this.waiters.has(each)) void this.poll();
    });
    return new Promise((resolve, reject) => {
      let timeout: NodeJS.Timeout | undefined;
      const stop = () => {
        clearTimeout(timeout);
        signal?.removeEventListener('abort', onAbort);
        const set = this.waiters.get(id);
        set?.delete(waiter);
        if (set?.size === 0) this.waiters.delete(id);
      };
      const waiter: Waiter = {
        status: 'pending',
        settle(row) {
          stop();
          row ? resolve(row) : reject(new ExecutionNotFoundError(id));
        },
        fail(error) {
          stop();
          reject(error);
        },
      };
      const onAbort = () => waiter.fail(signal?.reason);
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      // setTimeout cannot wait longer, and no process lives that long.
      if (timeoutMs !== undefined && timeoutMs < 2 ** 31) {
        timeout = setTimeout(() => waiter.fail(new ResultTimeoutError(id, waiter.status, timeoutMs)), timeoutMs);
      }
      this.waiters.set(id, (this.waiters.get(id) ?? new Set()).add(waiter));
      this.interval = FIRST_POLL_MS;
      void this.poll();
    });
  }

  private async poll(): Promise<void> {
    // A hint that arrives during a poll may be about an end that the poll did not see.
    if (this.isPolling) {
      this.pollAgain = true;
      return;
    }
    this.isPolling = true;
    clearTimeout(this.timer);
    this.store.hints.awaitEnds();
    do {
      this.pollAgain = false;
      const ids = [...this.waiters.keys()];
      for (let from = 0; from < ids.length; from += MAX_IDS) await this.read(ids.slice(from, from + MAX_IDS));
    } while (this.pollAgain);
    this.isPolling = false;
    if (this.waiters.size === 0 || this.closed) return;
    this.timer = setTimeout(() => void this.poll(), this.interval);
    this.interval = Math.min(this.interval * 1.5, LONGEST_POLL_MS);
  }

  private async read(ids: string[]): Promise<void> {
    let rows: ResultRow[];
    try {
      rows = await readResults(this.store.db, ids);
    } catch {
      // The database cannot be reached; the waiters go on waiting, within their own timeouts.
      return;
    }
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const id of ids) {
      const row = found.get(id);
      for (const waiter of [...(this.waiters.get(id) ?? [])]) {
        if (row) waiter.status = row.status;
        if (!row || isEnded(row.status) || row.status === 'expired' || row.status === 'removed') waiter.settle(row);
      }
    }
  }
}

function shuttingDown(): RhythmError {
  return new RhythmError(
    'RHYTHM_SHUTTING_DOWN',
    'The application is shutting down and stops waiting; the execution continues. Call result() in another process.',
  );
}
