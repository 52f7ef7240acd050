// Every error the module throws at its users: a stable code, fields for machines, a message that says what to do.

import { InvalidArgumentError, NonRetryableError } from '../libs/engine/index.js';
import { RhythmError } from '../libs/errors/index.js';
import type { StoredError } from '../libs/store/index.js';

export { InvalidArgumentError, NonRetryableError, RhythmError, type StoredError };

/** The settings do not fit together; the application cannot boot. */
export class ConfigurationError extends RhythmError {
  constructor(message: string, code = 'RHYTHM_CONFIGURATION', options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** No workflow or task of this name; `known` lists what exists. */
export class UnknownNameError extends RhythmError {
  constructor(
    readonly kind: 'workflow' | 'task' | 'workflow or task',
    readonly target: string,
    readonly known: readonly string[],
    message: string,
  ) {
    super(kind === 'task' ? 'RHYTHM_UNKNOWN_TASK' : 'RHYTHM_UNKNOWN_WORKFLOW', message);
  }
}

/** No execution has this id. */
export class ExecutionNotFoundError extends RhythmError {
  constructor(readonly executionId: string) {
    super(
      'RHYTHM_NOT_FOUND',
      `No execution has the id "${executionId}". It may never have been started, its starting transaction may not have committed, or it was removed by retention.`,
    );
  }
}

/** The id is taken by an execution that was started with something else. */
export class ExecutionConflictError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly differs: 'input' | 'name' | 'type',
    /** The key that the start gave in place of an id. */
    readonly idempotencyKey?: string,
  ) {
    const taken =
      idempotencyKey === undefined
        ? `An execution with the id "${executionId}" exists already and was started`
        : `The idempotencyKey "${idempotencyKey}" belongs to execution "${executionId}", which was started`;
    super(
      'RHYTHM_CONFLICT',
      `${taken} with a different ${differs}. Start with the same ${differs} to get that run back, or choose another ${idempotencyKey === undefined ? 'id' : 'key'}.`,
    );
  }
}

/** Executions of that id were started and removed so often meanwhile that the start could not be settled. Nothing was started. */
export class StartContendedError extends RhythmError {
  constructor(readonly executionId: string) {
    super(
      'RHYTHM_START_CONTENDED',
      `Executions with the id "${executionId}" were started and removed several times while this one was to be started. Nothing was started: try again.`,
    );
  }
}

/** A signal was sent to a task; only workflows take signals. Nothing was written. */
export class SignalToTaskError extends InvalidArgumentError {
  constructor(
    readonly executionId: string,
    readonly task: string,
    readonly parentId: string | null,
  ) {
    super(
      'RHYTHM_SIGNAL_TO_TASK',
      'executionId',
      `Execution "${executionId}" is a task ("${task}"), and only workflows take signals. ` +
        (parentId === null
          ? 'Send the signal to a workflow, or end the task from outside with ctx.completeLater() and CompletionService.'
          : `The workflow that called it is "${parentId}".`),
    );
  }
}

/** The execution is not in a state in which this can be done. */
export class ExecutionStateError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly status: string,
    action: string,
    advice: string,
  ) {
    super('RHYTHM_STATE', `Cannot ${action} execution "${executionId}": it is ${status}. ${advice}`);
  }
}

/** `result()` stopped waiting; the execution is not affected. */
export class ResultTimeoutError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly status: string,
    readonly timeoutMs: number,
  ) {
    super(
      'RHYTHM_RESULT_TIMEOUT',
      status === 'paused'
        ? `Execution "${executionId}" had not ended after ${timeoutMs} ms: it is paused and does not move. Let it go on with resume(id).`
        : `Execution "${executionId}" had not ended after ${timeoutMs} ms (it is ${status}) and goes on. Wait longer with result(id, { timeout }), or look at inspect(id) for what it waits for.`,
    );
  }
}

/** The execution failed; its own error is the `cause`, and `error` holds it as it was stored. */
export class ExecutionFailedError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly error: StoredError,
  ) {
    super('RHYTHM_EXECUTION_FAILED', `Execution "${executionId}" failed: ${error.name}: ${error.message}`, { cause: reviveError(error) });
  }
}

/** The execution was cancelled before it ended by itself. */
export class ExecutionCancelledError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly reason?: string,
  ) {
    super('RHYTHM_EXECUTION_CANCELLED', `Execution "${executionId}" was cancelled${reason ? `: ${reason.replace(/\.$/, '')}` : ''}.`);
  }
}

/** A completion token that is wrong, used up, or belongs to an attempt that is over. */
export class CompletionTokenError extends RhythmError {
  constructor(message: string) {
    super('RHYTHM_COMPLETION_TOKEN', message);
  }
}

/** The task was moved by somebody else each time its end was to be written. Nothing was changed, and the token is still good. */
export class CompletionBusyError extends RhythmError {
  constructor(readonly executionId: string) {
    super(
      'RHYTHM_COMPLETION_BUSY',
      `Execution "${executionId}" was moved by somebody else each time its end was to be written. Nothing was changed. The token is still good: try again.`,
    );
  }
}

/** A stored error as an `Error` again: its name, code, data and stack are those of the run, not of this process. */
export function reviveError(stored: StoredError): Error {
  const error = new Error(stored.message, stored.cause ? { cause: reviveError(stored.cause) } : undefined);
  error.name = stored.name;
  error.stack = stored.stack ?? `${stored.name}: ${stored.message}`;
  for (const key of ['code', 'data', 'attempts'] as const) {
    if (stored[key] !== undefined) Object.defineProperty(error, key, { value: stored[key], enumerable: true });
  }
  return error;
}
