// Whether and when a failed attempt is tried again.

import type { ExecutionOptions } from '../../store/index.js';
import type { TaskPolicy } from './runnable-task.js';

/** The policy of one execution: what its start asked for, else what the task declares. */
export function policyOf(declared: TaskPolicy, asked: ExecutionOptions | null): TaskPolicy {
  if (!asked) return declared;
  return {
    ...declared,
    timeoutMs: asked.timeoutMs ?? declared.timeoutMs,
    maxAttempts: asked.retry?.maxAttempts ?? declared.maxAttempts,
    backoff: asked.retry?.backoff ?? declared.backoff,
    delayMs: asked.retry?.delayMs ?? declared.delayMs,
    maxDelayMs: asked.retry?.maxDelayMs ?? declared.maxDelayMs,
    jitter: asked.retry?.jitter ?? declared.jitter,
  };
}

/** Milliseconds until the next attempt, or undefined when there is none. `failed` counts the attempts that failed, this one included. */
export function nextDelay(policy: TaskPolicy, failed: number, error: unknown, random: () => number): number | undefined {
  if (failed >= policy.maxAttempts || isFinal(error)) return undefined;
  if (policy.retryOn && !policy.retryOn(error)) return undefined;
  const grown = policy.backoff === 'exponential' ? policy.delayMs * 2 ** Math.min(failed - 1, 52) : policy.delayMs;
  const delay = Math.min(grown, policy.maxDelayMs);
  return policy.jitter ? delay * (0.5 + random() / 2) : delay;
}

// By name as well as by class: the app may carry a second copy of this package.
function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { name?: unknown }).name === 'NonRetryableError';
}
