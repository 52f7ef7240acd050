// The errors that the engine and its tasks throw.

import { RhythmError } from '../errors/index.js';

/** A value given to a service is not acceptable. `path` is its place in the call. */
export class InvalidArgumentError extends RhythmError {
  constructor(
    code: string,
    readonly path: string,
    message: string,
  ) {
    super(code, message);
  }
}

/** Thrown by a task: do not try again, whatever its retry policy says. `data` reaches the flow as `error.data`. */
export class NonRetryableError extends RhythmError {
  readonly data: unknown;

  constructor(message: string, options: { code?: string; data?: unknown; cause?: unknown } = {}) {
    super(options.code ?? 'RHYTHM_NON_RETRYABLE', message, { cause: options.cause });
    this.data = options.data;
  }
}
