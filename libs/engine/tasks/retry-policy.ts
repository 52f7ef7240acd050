// Whether and when a failed attempt is tried again.

import type { ExecutionOptions } from '../../store/index.js';
import type { TaskPolicy } from './runnable-task.js';

/** The policy of one execution: what was given at its start, otherwise what the task declares. */
export function policyOf(declared: TaskPolicy, given: ExecutionOptions | null): TaskPolicy {
  if (!given) return declared;
  return {
    ...declared,
    timeoutMs: given.timeoutMs ?? declared.timeoutMs,
    maxAttempts: given.retry?.maxAttempts ?? declared.maxAttempts,
    backoff: given.retry?.backoff ?? declared.backoff,
    delayMs: given.retry?.delayMs ?? declared.delayMs,
    maxDelayMs: given.retry?.maxDelayMs ?? declared.maxDelayMs,
    jitter: given.retry?.jitter ?? declared.jitter,
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

// By name, not by class: the app may have a second copy of this package.
function isFinal(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { name?: unknown }).name === 'NonRetryableError';
}
