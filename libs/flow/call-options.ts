// The options that durable calls know: read by the VM when a call is made, and by the checker where the source writes them as literals.

/** By the name of the call. */
export const CALL_OPTIONS = {
  'Task.run': ['queue', 'priority', 'timeout', 'retry', 'delay', 'idempotencyKey'],
  'Workflow.run': ['queue', 'priority', 'timeout', 'delay', 'id', 'detached'],
  'Signal.when': ['timeout'],
} as const;

/** Of the option `retry`. */
export const RETRY_OPTIONS = ['maxAttempts', 'backoff', 'delay', 'maxDelay', 'jitter'] as const;
