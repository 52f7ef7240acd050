// One attempt of a task: its timeout, its abort signal, and the context that the task gets.

import type { EntityManager } from 'typeorm';
import { createCompletionToken, isDatabaseError, reportProgress, rootOf } from '../../store/index.js';
import type { EngineLogger, WorkerParts } from '../engine-options.js';
import { cancelledError, timeoutError } from '../error-data.js';
import { NonRetryableError } from '../errors.js';
import { toJsonText } from '../payload.js';
import { sleep, type Timer } from '../runtime.js';
import type { StepRows } from '../turns/step-rows.js';
import { UnreachableError } from '../unreachable.js';
import type { HeldItem, Stoppable, StopReason } from '../work/held-work.js';
import type { TaskPolicy } from './runnable-task.js';
import type { TaskContext, TaskLogger } from './task-context.js';

// No timer can be set for longer, and no process runs that long.
const LONGEST_MS = 2_147_483_647;
// Between two tries to write a heartbeat that could not be written.
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 1_000;

export class Attempt implements Stoppable {
  stopped: StopReason | undefined;
  /** Set as soon as the task asks for a token: from then on the task does not end when it returns. */
  handOver: Promise<string> | undefined;
  /** Set for a transactional task: whether its transaction has committed. */
  committed: { done: boolean } | undefined;
  /** Made when the task asks for its signal, or when it is aborted. */
  private controller: AbortController | undefined;
  private timer: Timer | undefined;
  private reject: ((error: unknown) => void) | undefined;
  private aborted: Error | undefined;
  private ended = false;
  /** How often the task has called `heartbeat`, and the end of the last such call. */
  private heartbeats = 0;
  private reported: Promise<void> | undefined;
  /** The latest progress that is not written yet. */
  private unwritten: { progress: string } | undefined;

  constructor(
    readonly item: HeldItem,
    readonly policy: TaskPolicy,
    readonly parts: WorkerParts,
    private readonly rows: StepRows,
  ) {}

  /** From now on it can be stopped, and its time is limited. False when it must not run. */
  begin(): boolean {
    const { item, policy } = this;
    // Lost before it began (the worker was declared dead, or gave its work back): another worker runs it.
    if (item.dropped) {
      this.stopped = 'lost';
      return false;
    }
    item.running = this;
    if (policy.timeoutMs !== undefined && policy.timeoutMs <= LONGEST_MS) {
      const { timeoutMs } = policy;
      this.timer = this.parts.runtime.setTimer(timeoutMs, () =>
        this.abort(timeoutError(`Attempt ${item.attempts + 1} of task "${item.name}"`, timeoutMs)),
      );
    }
    return true;
  }

  /** Waits for what the task returned. It may ignore its signal; the attempt ends anyway, and what the task does later is ignored. */
  race(returned: unknown): unknown {
    if (!(returned instanceof Promise)) return returned;
    return new Promise((resolve, reject) => {
      this.reject = reject;
      // Stopped while it ran, before its first await.
      if (this.aborted) reject(this.aborted);
      returned.then(resolve, reject);
    });
  }

  /** Ends the attempt early: its signal is aborted, and its outcome is dropped. */
  stop(reason: StopReason): void {
    this.stopped = reason;
    this.abort(reason === 'cancelled' ? cancelledError(undefined) : { name: 'AbortError', message: STOPPED[reason] });
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  end(): void {
    this.timer?.cancel();
    this.ended = true;
    this.item.running = undefined;
  }

  context(manager: unknown): TaskContext {
    const context = new AttemptContext(this);
    if (manager !== undefined) Object.defineProperty(context, 'manager', { value: manager, enumerable: true });
    return context;
  }

  /**
   * An outage of the database is not the fault of the task, and many tasks do not await their heartbeats. So one that cannot be
   * written does not reject. It is tried again until it is written, a newer one replaces it, or the attempt is over.
   */
  async heartbeat(progress: unknown): Promise<void> {
    const text = toJsonText(progress, 'The progress', this.parts.options);
    if (text !== undefined) this.unwritten = { progress: text };
    const number = ++this.heartbeats;
    // One after the other: older progress must not be written over newer progress.
    const reported = this.reported ? this.reported.then(() => this.report(number)) : this.report(number);
    this.reported = reported.catch(() => undefined);
    return reported;
  }

  private async report(number: number): Promise<void> {
    for (let waitMs = FIRST_RETRY_MS; number === this.heartbeats && !this.ended; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const { unwritten } = this;
      try {
        const { store } = this.parts;
        const isWritten = (await this.hasRow()) && (await reportProgress(store.db, this.item, unwritten?.progress));
        if (!isWritten) this.item.running?.stop('lost');
        if (this.unwritten === unwritten) this.unwritten = undefined;
        return;
      } catch (error) {
        if (isUnstorable(error)) {
          this.unwritten = undefined;
          throw error;
        }
      }
      await sleep(this.parts.runtime, waitMs, true);
    }
  }

  // Not async: a refusal must reach a task that does not await it, before its transaction commits.
  completeLater(): Promise<string> {
    if (this.policy.transactional) throw new Error('A transactional task ends with its transaction; it cannot be handed over.');
    const handOver = this.makeToken();
    this.handOver = handOver;
    // The attempt awaits it too, but only once the task has returned.
    handOver.catch(() => undefined);
    return handOver;
  }

  private async makeToken(): Promise<string> {
    const { store, runtime } = this.parts;
    const hasRow = await this.hasRow();
    const created = hasRow ? createCompletionToken(store.db, this.item, runtime.newSecret()) : Promise.resolve(undefined);
    const token = await created.catch((error: unknown) => {
      throw isDatabaseError(error) ? error : new UnreachableError('The completion token could not be stored', error);
    });
    if (token === undefined) {
      this.item.running?.stop('lost');
      throw new Error(`Execution ${this.item.id} was taken over by another worker.`);
    }
    return token;
  }

  // Progress and tokens are stored with the row of the task.
  private hasRow(): boolean | Promise<boolean> {
    return this.item.step === undefined || this.rows.promote(this.item);
  }

  private abort(data: { name: string; message: string; code?: string }): void {
    const reason = Object.assign(new Error(data.message), data);
    this.aborted = reason;
    this.controller ??= new AbortController();
    this.controller.abort(reason);
    this.reject?.(reason);
  }
}

// PostgreSQL refuses the value itself (a NUL in a string that is to be jsonb), and would refuse it the next time too.
function isUnstorable(error: unknown): boolean {
  return isDatabaseError(error) && error.code?.startsWith('22') === true;
}

// A signal is made when it is asked for (1.4 µs on Node 20), by one accessor for all contexts: an accessor in a literal costs
// ten times as much as the rest of it (480 compared with 50 ns).
const ATTEMPT = Symbol('attempt');
const SIGNAL: PropertyDescriptor & ThisType<AttemptContext> = {
  get() {
    return this[ATTEMPT].signal;
  },
  enumerable: true,
};

// What a task gets. Everything is an own property, so that a task can destructure, spread and wrap it.
class AttemptContext {
  readonly executionId: string;
  readonly taskName: string;
  readonly parentId: string | null;
  readonly rootId: string;
  readonly queue: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  readonly idempotencyKey: string;
  readonly lastProgress: unknown;
  declare readonly signal: AbortSignal;
  declare readonly [ATTEMPT]: Attempt;
  readonly logger: TaskLogger;
  readonly heartbeat: TaskContext['heartbeat'];
  readonly completeLater: TaskContext['completeLater'];

  constructor(attempt: Attempt) {
    const { item, policy } = attempt;
    this.executionId = item.id;
    this.taskName = item.name;
    this.parentId = item.parentId;
    this.rootId = rootOf(item.id);
    this.queue = item.queue;
    this.attempt = item.attempts + 1;
    this.maxAttempts = policy.maxAttempts;
    this.idempotencyKey = item.options?.idempotencyKey ?? item.id;
    this.lastProgress = item.progress ?? undefined;
    Object.defineProperty(this, ATTEMPT, { value: attempt });
    Object.defineProperty(this, 'signal', SIGNAL);
    this.logger = new LabelledLogger(attempt.parts.logger, item);
    this.heartbeat = (progress) => attempt.heartbeat(progress);
    this.completeLater = () => attempt.completeLater();
  }

  get manager(): EntityManager {
    throw new NonRetryableError(
      `ctx.manager exists only in transactional tasks. Declare "${this.taskName}" with @Task({ transactional: true }).`,
      { code: 'RHYTHM_NOT_TRANSACTIONAL' },
    );
  }
}

class LabelledLogger implements TaskLogger {
  readonly debug: TaskLogger['debug'];
  readonly log: TaskLogger['log'];
  readonly warn: TaskLogger['warn'];
  readonly error: TaskLogger['error'];

  constructor(logger: EngineLogger, { name, id }: HeldItem) {
    this.debug = (message) => logger.debug(`[${name} ${id}] ${message}`);
    this.log = (message) => logger.log(`[${name} ${id}] ${message}`);
    this.warn = (message) => logger.warn(`[${name} ${id}] ${message}`);
    this.error = (message, stack) => logger.error(`[${name} ${id}] ${message}`, stack);
  }
}

const STOPPED: Record<StopReason, string> = {
  cancelled: 'The execution was cancelled.',
  lost: 'The execution was taken over by another worker.',
  shutdown: 'The worker is shutting down; the task goes back to the queue.',
  dead: 'This worker was declared dead; its work was given to others.',
};
