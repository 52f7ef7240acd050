// The options of `@Task()`: how a task is retried, timed and run; validated once, at boot.

import type { Duration } from '../duration.js';

/** How often and how fast a failed task is tried again. */
export interface TaskRetryOptions {
  /** All attempts together, the first included. 1 means no retry. */
  maxAttempts?: number;
  backoff?: 'fixed' | 'exponential';
  /** Wait before the second attempt; doubled each time when exponential. */
  delay?: Duration;
  maxDelay?: Duration;
  /** Spreads the waits (between half and the whole), so that a crowd does not come back at once. */
  jitter?: boolean;
  /** Answers false for an error that another attempt cannot cure. `NonRetryableError` is never retried. */
  retryOn?: (error: unknown) => boolean;
}

/** Options of `@Task(name?, options?)`. */
export interface TaskOptions {
  name?: string;
  /** Where its executions wait unless the caller says otherwise; default "default". */
  queue?: string;
  /** Higher runs first; default 0. */
  priority?: number;
  /** Bound of one attempt; the attempt's `signal` fires and it counts as failed. */
  timeout?: Duration;
  /** How long it may wait in the queue before it fails without having run. */
  startTimeout?: Duration;
  /** Bound of all attempts and the waits between them. */
  totalTimeout?: Duration;
  retry?: TaskRetryOptions;
  /** Runs in a transaction of the app's DataSource: writes through `ctx.manager` and the result commit together. */
  transactional?: boolean;
}
