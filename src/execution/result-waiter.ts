// Waits for executions to end: woken by hints, with one coalesced look for all waiters behind them.

import { ANY, readResults, type Store } from '../../libs/store/index.js';
import { ExecutionCancelledError, ExecutionFailedError, ExecutionNotFoundError, ResultTimeoutError, RhythmError } from '../errors.js';
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

// A look is one primary-key read for all waiters together. It backs off while nothing ends, and hints cut the wait short.
const FIRST_LOOK_MS = 20;
const LAST_LOOK_MS = 1_000;
const MAX_IDS = 1_000;

/** The waiters of one process. */
export class ResultWaiter {
  private readonly waiters = new Map<string, Set<Waiter>>();
  private timer: NodeJS.Timeout | undefined;
  private interval = FIRST_LOOK_MS;
  private looking = false;
  private lookAgain = false;
  private closed = false;
  private forget: (() => void) | undefined;

  constructor(private readonly store: Store) {}

  /** The result of an execution, as soon as it has ended; rejects with its error. */
  async wait(id: string, { timeoutMs, signal }: WaitOptions): Promise<unknown> {
    const row = await this.ended(id, timeoutMs, signal);
    if (row.status === 'completed') return parse(row.output);
    if (row.status === 'cancelled') throw new ExecutionCancelledError(id, row.error?.message);
    throw new ExecutionFailedError(id, row.error ?? { name: 'Error', message: 'unknown error' });
  }

  /** Lets everyone who still waits go with an error. */
  close(): void {
    this.closed = true;
    this.forget?.();
    clearTimeout(this.timer);
    for (const set of [...this.waiters.values()]) for (const waiter of [...set]) waiter.fail(shuttingDown());
  }

  private ended(id: string, timeoutMs: number | undefined, signal: AbortSignal | undefined): Promise<ResultRow> {
    if (this.closed) return Promise.reject(shuttingDown());
    // From the first that waits on: a process that waits for nothing is not told of every end.
    this.forget ??= this.store.hints.on('ended', (each) => {
      if (each === ANY ? this.waiters.size > 0 : this.waiters.has(each)) void this.look();
    });
    return new Promise((resolve, reject) => {
      let timeout: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timeout);
        signal?.removeEventListener('abort', onAbort);
        const set = this.waiters.get(id);
        set?.delete(waiter);
        if (set?.size === 0) this.waiters.delete(id);
      };
      const waiter: Waiter = {
        status: 'pending',
        settle(row) {
          leave();
          row ? resolve(row) : reject(new ExecutionNotFoundError(id));
        },
        fail(error) {
          leave();
          reject(error);
        },
      };
      const onAbort = () => waiter.fail(signal?.reason);
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
      // A timeout beyond what a timer can hold is no timeout a process would live to see.
      if (timeoutMs !== undefined && timeoutMs < 2 ** 31) {
        timeout = setTimeout(() => waiter.fail(new ResultTimeoutError(id, waiter.status, timeoutMs)), timeoutMs);
      }
      this.waiters.set(id, (this.waiters.get(id) ?? new Set()).add(waiter));
      this.interval = FIRST_LOOK_MS;
      void this.look();
    });
  }

  private async look(): Promise<void> {
    // A hint that comes during a look may be of something that look did not see.
    if (this.looking) {
      this.lookAgain = true;
      return;
    }
    this.looking = true;
    clearTimeout(this.timer);
    this.store.hints.awaitEnds();
    do {
      this.lookAgain = false;
      const ids = [...this.waiters.keys()];
      for (let from = 0; from < ids.length; from += MAX_IDS) await this.lookAt(ids.slice(from, from + MAX_IDS));
    } while (this.lookAgain);
    this.looking = false;
    if (this.waiters.size === 0 || this.closed) return;
    this.timer = setTimeout(() => void this.look(), this.interval);
    this.interval = Math.min(this.interval * 1.5, LAST_LOOK_MS);
  }

  private async lookAt(ids: string[]): Promise<void> {
    let rows: ResultRow[];
    try {
      rows = await readResults(this.store.db, ids);
    } catch {
      // The database is away; whoever waits goes on waiting, and its own timeout bounds that.
      return;
    }
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const id of ids) {
      const row = found.get(id);
      for (const waiter of [...(this.waiters.get(id) ?? [])]) {
        if (row) waiter.status = row.status;
        if (!row || ['completed', 'failed', 'cancelled'].includes(row.status)) waiter.settle(row);
      }
    }
  }
}

function shuttingDown(): RhythmError {
  return new RhythmError(
    'RHYTHM_SHUTTING_DOWN',
    'The application is shutting down and waits no longer; the execution goes on. Ask again from a process that lives.',
  );
}
