// What a task method receives besides its input.

import type { EntityManager } from 'typeorm';

/** The second argument of every `@Task()` method. */
export interface TaskContext {
  /** The execution of this task: the same for every attempt. */
  readonly executionId: string;
  readonly taskName: string;
  /** The workflow that called it, or null when the task was started by itself. */
  readonly parentId: string | null;
  readonly rootId: string;
  readonly queue: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** Stable across attempts, crashes and workers: hand it to the outside world to make calls idempotent. */
  readonly idempotencyKey: string;
  /** Fires on cancel, timeout, shutdown, and when this worker was declared dead. `signal.reason` is the cause. */
  readonly signal: AbortSignal;
  /** Logs with the execution's id and name in front. */
  readonly logger: TaskLogger;
  /**
   * Reports that the task is alive and how far it is; resets its crash count. `progress` is any JSON value. Resolves when it is
   * stored. It does not reject when the database cannot be reached: it is tried again until it is stored, a newer
   * heartbeat replaces it, or the attempt is over.
   */
  heartbeat(progress?: unknown): Promise<void>;
  /** The progress that the last attempt reported, if any. */
  readonly lastProgress: unknown;
  /** Only with `@Task({ transactional: true })`: what is written through it commits together with the task's result. */
  readonly manager: EntityManager;
  /**
   * Hands the task over to the outside: the method may return, and the task ends when someone calls
   * `CompletionService.complete(token, …)` or `.fail(token, …)`. Await it: the promise resolves with the token, which is shown once
   * and stored only as a hash.
   */
  completeLater(): Promise<string>;
}

/** The part of Nest's logger that a task needs. */
export interface TaskLogger {
  debug(message: string): void;
  log(message: string): void;
  warn(message: string): void;
  error(message: string, stack?: string): void;
}
