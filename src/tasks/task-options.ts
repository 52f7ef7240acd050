// The options of `@Task()`: how a task is queued, retried and limited in time; checked once, at boot.

import type { FailureHandler } from '../check-argument.js';
import type { Duration } from '../duration.js';
import type { StandardSchema } from './standard-schema.js';

/** How often and how soon a failed task is tried again. */
export interface TaskRetryOptions {
  /** All attempts, including the first. 1 means no retry. */
  maxAttempts?: number;
  backoff?: 'fixed' | 'exponential';
  /** Wait before the second attempt; doubled each time when exponential. */
  delay?: Duration;
  maxDelay?: Duration;
  /** Varies the waits between half and the whole, so that many tasks do not retry at the same moment. */
  jitter?: boolean;
  /** Returns false for an error that another attempt cannot fix. `NonRetryableError` is never retried. */
  retryOn?: (error: unknown) => boolean;
}

/** Options of `@Task(name?, options?)`. `Input` is what the method gets, `Result` what it returns. */
// biome-ignore lint/suspicious/noExplicitAny: without schemas a method may have any types
export interface TaskOptions<Input = any, Result = any> {
  name?: string;
  /** Where its executions wait unless the caller names another queue; default "default". */
  queue?: string;
  /** Higher runs first; default 0. */
  priority?: number;
  /** Limit for one attempt: then its `signal` fires, and it counts as failed. */
  timeout?: Duration;
  /** How long it may wait in the queue before it fails without having run. */
  startTimeout?: Duration;
  /** Limit for all attempts and the waits between them. */
  totalTimeout?: Duration;
  retry?: TaskRetryOptions;
  /**
   * Checks the input before anything else: a schema of zod, valibot, arktype or any other library with Standard Schema. The method gets
   * what the schema returns. What is refused fails the task at once, with `{ issues }` as `error.data`.
   */
  // biome-ignore lint/suspicious/noExplicitAny: what the schema takes is not known to the compiler
  input?: StandardSchema<any, Input>;
  /** Checks what the method returns before it is stored. What does not fit fails the task at once. */
  output?: StandardSchema<Result, unknown>;
  /** Runs it in a transaction of the app's DataSource: writes through `ctx.manager` commit together with the result. */
  transactional?: boolean;
  /**
   * Started when an execution of this task fails for good that was started with `ExecutionService`. A workflow that calls the task gets
   * the error itself.
   */
  onFailure?: FailureHandler;
}
