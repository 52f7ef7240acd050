// New runs in place of others with the same id: of those that have ended, and of those that are cancelled first.

import {
  getExecution,
  type NewExecution,
  requestCancel,
  retrying,
  type StartAgainOutcome,
  type Store,
  startAgain,
} from '../../libs/store/index.js';
import {
  ExecutionCancelledError,
  ExecutionFailedError,
  ExecutionNotFoundError,
  ExecutionStateError,
  ResultExpiredError,
  ResultTimeoutError,
} from '../errors.js';
import type { ResultWaiter } from './result-waiter.js';

const REASON = "It was started again with onConflict: 'cancel-running'.";
/** What a run may take in addition to its time for cleaning up: until it reads its cancel, and until its children have ended. */
const MARGIN_MS = 30_000;
const BUSY_WAIT_MS = 50;

export class Replacements {
  constructor(
    private readonly store: Store,
    private readonly waiter: ResultWaiter,
    private readonly cancelGraceMs: number,
  ) {}

  /** Starts the execution, or restarts an ended one with its id. One that has not ended is left as it is. */
  ofEnded(execution: NewExecution, returnLiving = true): Promise<StartAgainOutcome> {
    return retrying(() => this.store.db.transaction((tx) => startAgain(tx, execution, { returnLiving })));
  }

  /**
   * The same, after a run that has not ended was cancelled. Of several such starts at the same time, each cancels the run of the one
   * before it.
   */
  async afterCancel(execution: NewExecution): Promise<StartAgainOutcome> {
    const { id } = execution;
    const deadline = performance.now() + this.cancelGraceMs + MARGIN_MS;
    let cancelled: number | undefined;
    for (;;) {
      const outcome = await this.ofEnded(execution, false);
      if (outcome.outcome !== 'living' && outcome.outcome !== 'busy') return outcome;
      const left = deadline - performance.now();
      if (left <= 0) throw await this.notEnded(id, outcome.outcome);
      if (outcome.outcome === 'busy') {
        await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT_MS));
        continue;
      }
      // Once for each run: a second request could reach the next one.
      const run = await getExecution(this.store.db, id);
      if (run && run.createdAt.getTime() !== cancelled) {
        cancelled = run.createdAt.getTime();
        const seen = await requestCancel(this.store.db, [id], REASON);
        this.store.hints.hint('work', seen.get(id)?.queue ?? run.queue);
      }
      await this.waitForEnd(id, left);
    }
  }

  private async waitForEnd(id: string, timeoutMs: number): Promise<void> {
    try {
      await this.waiter.wait(id, { timeoutMs });
    } catch (error) {
      const isOver =
        error instanceof ExecutionCancelledError ||
        error instanceof ExecutionFailedError ||
        error instanceof ExecutionNotFoundError ||
        error instanceof ResultExpiredError;
      // After a timeout the caller sees that no time is left.
      if (!isOver && !(error instanceof ResultTimeoutError)) throw error;
    }
  }

  private async notEnded(id: string, outcome: 'living' | 'busy'): Promise<ExecutionStateError> {
    if (outcome === 'busy') return stillBusy(id, 'start');
    const { status = 'unknown' } = (await getExecution(this.store.db, id)) ?? {};
    const advice =
      'It was asked to cancel, and has not ended within cancel.grace and half a minute. Nothing was started: try again when it has ended.';
    return new ExecutionStateError(id, status, 'replace', advice);
  }
}

/** The run has ended, and something that it called has not: it would report to the new run. */
export function stillBusy(id: string, action: 'start' | 'restart'): ExecutionStateError {
  const advice = 'Try again when that has ended (tree(id) shows it), or cancel it.';
  return new ExecutionStateError(id, 'in use: it has ended, and something that it called has not', action, advice);
}
