// Every error that the module throws: a stable code, fields for programs, and a message that says what happened and what to do.

import { InvalidArgumentError, NonRetryableError } from '../libs/engine/index.js';
import { RhythmError } from '../libs/errors/index.js';
import type { StoredError } from '../libs/store/index.js';

export { InvalidArgumentError, NonRetryableError, RhythmError, type StoredError };

/** An option or a setting is wrong; the application cannot start. */
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
      `No execution has the id "${executionId}". It may never have been started, its starting transaction may not have committed, or it was removed (by remove(), rhythm cleanup, retention or erase()).`,
    );
  }
}

/** The id belongs to an execution that was started with something else, or that must not exist (`onConflict: 'fail'`). */
export class ExecutionConflictError extends RhythmError {
  constructor(
    readonly executionId: string,
    /** Null if it is the same, and the start had `onConflict: 'fail'`. */
    readonly differs: 'input' | 'name' | 'type' | null,
    /** The key that the start had instead of an id. */
    readonly idempotencyKey?: string,
  ) {
    const taken =
      idempotencyKey === undefined
        ? `An execution with the id "${executionId}" exists already`
        : `The idempotencyKey "${idempotencyKey}" belongs to execution "${executionId}"`;
    const word = idempotencyKey === undefined ? 'id' : 'key';
    super(
      'RHYTHM_CONFLICT',
      differs === null
        ? `${taken}, and onConflict is 'fail'. Choose another ${word}, or leave out onConflict to get that run.`
        : `${taken}${idempotencyKey === undefined ? ' and' : ', which'} was started with a different ${differs}. Start with the same ${differs} to get that run, or choose another ${word}.`,
    );
  }
}

/** The queue has as many waiting executions as it may have (`queues`). Nothing was started. */
export class QueueFullError extends RhythmError {
  constructor(
    readonly queue: string,
    readonly maxDepth: number,
    wanted: number,
  ) {
    super(
      'RHYTHM_QUEUE_FULL',
      wanted > maxDepth
        ? `Queue "${queue}" may have ${maxDepth} waiting executions (queues.${queue}.maxDepth), and ${wanted} were to be started at once. Nothing was started. Start fewer at a time, or raise the limit.`
        : `Queue "${queue}" is full: ${maxDepth} executions may wait in it (queues.${queue}.maxDepth). Nothing was started. Try again later, or add workers.`,
    );
  }
}

/** Executions with the id were started and removed several times during this start. Nothing was started. */
export class StartContendedError extends RhythmError {
  constructor(readonly executionId: string) {
    super(
      'RHYTHM_START_CONTENDED',
      `Executions with the id "${executionId}" were started and removed several times during this start. Nothing was started. Try again.`,
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

/** As many signals wait for a run as are allowed, and no wait has taken them. Nothing was written. */
export class TooManySignalsError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly limit: number,
  ) {
    super(
      'RHYTHM_TOO_MANY_SIGNALS',
      `Execution "${executionId}" has ${limit} signals that no wait has taken; the limit is ${limit} (limits.signalsPerRun). Let the flow take them with Signal.when, or send fewer.`,
    );
  }
}

/** The execution is in a state in which this cannot be done. */
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

/** Nothing was erased: an execution has not ended, or its caller has its outcome. */
export class EraseRefusedError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly status: string,
    /** The caller, if that is what must be erased. */
    readonly parentId: string | null,
  ) {
    super(
      'RHYTHM_STATE',
      parentId === null
        ? `Nothing was erased: execution "${executionId}" is ${status}. Cancel it, wait until it has ended, and erase it then.`
        : `Nothing was erased: execution "${executionId}" was called by "${parentId}", which has its input and its result. Erase "${parentId}".`,
    );
  }
}

/** The state of a run after this turn is not stored any more, or never was. */
export class SnapshotNotKeptError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly turn: number,
    kept: readonly number[],
  ) {
    const are = kept.length === 0 ? 'None of its states is kept' : `Of this run, the states after the turns ${kept.join(', ')} are kept`;
    super(
      'RHYTHM_SNAPSHOT_NOT_KEPT',
      `The state of "${executionId}" after turn ${turn} is not kept. ${are}: set history.snapshots to how many each run is to keep from now on, or leave out \`turn\` for its present state.`,
    );
  }
}

/** The execution has ended, and its result is not kept any more: a step that its run has consumed, or a run that was removed. */
export class ResultExpiredError extends RhythmError {
  constructor(
    readonly executionId: string,
    /** What happened to it. */
    readonly reason: 'expired' | 'removed',
  ) {
    super(
      'RHYTHM_RESULT_EXPIRED',
      reason === 'removed'
        ? `The result of "${executionId}" is not kept any more: the run has ended and was removed, by remove() or because it was older than retention says. Its id cannot be started again before retention.keys has passed.`
        : `The result of "${executionId}" is not kept any more: its workflow has consumed it, and keeps as many steps as history.maxSteps says. (Or this call of the workflow was not a task.) Read the result in the workflow, or raise history.maxSteps.`,
    );
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
        ? `Execution "${executionId}" had not ended after ${timeoutMs} ms. It is paused: continue it with resume(id).`
        : `Execution "${executionId}" had not ended after ${timeoutMs} ms. It is ${status} and continues: wait longer with result(id, { timeout }), or see with inspect(id) what it waits for.`,
    );
  }
}

/** The execution failed. Its error is the `cause`; `error` is the same as it was stored. */
export class ExecutionFailedError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly error: StoredError,
  ) {
    super('RHYTHM_EXECUTION_FAILED', `Execution "${executionId}" failed: ${error.name}: ${error.message}`, { cause: reviveError(error) });
  }
}

/** The execution was cancelled. */
export class ExecutionCancelledError extends RhythmError {
  constructor(
    readonly executionId: string,
    readonly reason?: string,
  ) {
    super('RHYTHM_EXECUTION_CANCELLED', `Execution "${executionId}" was cancelled${reason ? `: ${reason.replace(/\.$/, '')}` : ''}.`);
  }
}

/** A completion token that is invalid, was used before, or belongs to an attempt that is over. */
export class CompletionTokenError extends RhythmError {
  constructor(message: string) {
    super('RHYTHM_COMPLETION_TOKEN', message);
  }
}

/** The task was changed by something else each time its end was written. Nothing was changed, and the token is still valid. */
export class CompletionBusyError extends RhythmError {
  constructor(readonly executionId: string) {
    super(
      'RHYTHM_COMPLETION_BUSY',
      `Execution "${executionId}" was changed by something else each time its end was written. Nothing was stored, and the token is still valid: try again.`,
    );
  }
}

/** A stored error as an `Error`: its name, code, data and stack are those of the run, not of this process. */
export function reviveError(stored: StoredError): Error {
  const error = new Error(stored.message, stored.cause ? { cause: reviveError(stored.cause) } : undefined);
  error.name = stored.name;
  error.stack = stored.stack ?? `${stored.name}: ${stored.message}`;
  for (const key of ['code', 'data', 'attempts'] as const) {
    if (stored[key] !== undefined) Object.defineProperty(error, key, { value: stored[key], enumerable: true });
  }
  return error;
}
