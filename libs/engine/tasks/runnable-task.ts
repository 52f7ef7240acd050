// A task as the engine runs it: its name, its policy, and the function to call.

import type { TaskContext } from './task-context.js';

/** How a task is queued, timed and retried: durations in milliseconds, every default filled in. */
export interface TaskPolicy {
  queue: string;
  priority: number;
  timeoutMs?: number;
  startTimeoutMs?: number;
  totalTimeoutMs?: number;
  maxAttempts: number;
  backoff: 'fixed' | 'exponential';
  delayMs: number;
  maxDelayMs: number;
  jitter: boolean;
  retryOn?: (error: unknown) => boolean;
  transactional: boolean;
}

export interface RunnableTask {
  readonly name: string;
  readonly policy: TaskPolicy;
  /** Runs the task once. It may return its result or a promise of it. */
  run(input: unknown, context: TaskContext): unknown;
}

/** The tasks that this process can run. */
export interface TaskSource {
  get(name: string): RunnableTask | undefined;
  names(): string[];
  /** ` Did you mean "…"?` for a name that is nearly one of these, otherwise an empty string. */
  suggest(name: string): string;
}
