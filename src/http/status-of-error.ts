// Which HTTP status each error code means, and what a client may read of it.

import { STATUS_CODES } from 'node:http';
import { isConnectionError } from '../../libs/store/index.js';
import type { RhythmError } from '../errors.js';

/** The body of a response to a request that failed in Rhythm. */
export interface RhythmErrorBody {
  statusCode: number;
  /** The name of the status: "Not Found". */
  error: string;
  /** The stable code of the error: "RHYTHM_NOT_FOUND". */
  code: string;
  message: string;
}

/** The response to an error. */
export interface ErrorResponse {
  body: RhythmErrorBody;
  /** Seconds after which the same request may succeed. */
  retryAfter?: number;
}

// A code that is not here is 500: the application is configured or written wrongly, and the client can do nothing about it.
const STATUS: Readonly<Record<string, number>> = {
  RHYTHM_OPTION_UNKNOWN: 400,
  RHYTHM_OPTION_INVALID: 400,
  RHYTHM_ID_INVALID: 400,
  RHYTHM_NAME_INVALID: 400,
  RHYTHM_PAYLOAD_INVALID: 400,
  RHYTHM_PAYLOAD_TOO_DEEP: 400,
  RHYTHM_PAYLOAD_TOO_LARGE: 413,
  RHYTHM_NOT_FOUND: 404,
  RHYTHM_UNKNOWN_WORKFLOW: 404,
  RHYTHM_UNKNOWN_TASK: 404,
  RHYTHM_UNKNOWN_VERSION: 404,
  RHYTHM_CONFLICT: 409,
  RHYTHM_STATE: 409,
  RHYTHM_RETRY_REFUSED: 409,
  RHYTHM_SIGNAL_TO_TASK: 409,
  RHYTHM_EXECUTION_CANCELLED: 409,
  RHYTHM_COMPLETION_TOKEN: 410,
  RHYTHM_RESULT_EXPIRED: 410,
  RHYTHM_SNAPSHOT_NOT_KEPT: 410,
  RHYTHM_QUEUE_FULL: 429,
  RHYTHM_TOO_MANY_SIGNALS: 429,
  RHYTHM_START_CONTENDED: 503,
  RHYTHM_COMPLETION_BUSY: 503,
  RHYTHM_SHUTTING_DOWN: 503,
  RHYTHM_POOL_BUSY: 503,
  RHYTHM_DATABASE_REFUSED: 503,
  RHYTHM_DATABASE_UNREACHABLE: 503,
  RHYTHM_RESULT_TIMEOUT: 504,
};

// What a client reads instead of a message that names hosts, what a task has thrown, or every workflow there is.
const PUBLIC_MESSAGE: Readonly<Record<string, string>> = {
  RHYTHM_QUEUE_FULL: 'Too many executions are waiting. Try again later.',
  RHYTHM_UNKNOWN_WORKFLOW: 'There is no workflow of this name.',
  RHYTHM_UNKNOWN_TASK: 'There is no task of this name.',
  RHYTHM_UNKNOWN_VERSION: 'There is no such version of this workflow.',
  RHYTHM_EXECUTION_FAILED: 'The execution failed.',
  RHYTHM_RESULT_TIMEOUT: 'The execution has not ended yet.',
};
const BY_STATUS: Readonly<Record<number, string>> = { 503: 'The service cannot do this now. Try again later.' };

// Contention is over at once; an outage or a restart takes seconds.
const RETRY_SOON_S = 1;
const RETRY_LATER_S = 5;
const SOON: ReadonlySet<string> = new Set(['RHYTHM_START_CONTENDED', 'RHYTHM_COMPLETION_BUSY', 'RHYTHM_POOL_BUSY']);

/** The response to an error of Rhythm, or of its connection to the database. */
export function responseTo(error: unknown): ErrorResponse {
  const code = isConnectionError(error) ? 'RHYTHM_DATABASE_UNREACHABLE' : (error as RhythmError).code;
  const statusCode = Object.hasOwn(STATUS, code) ? STATUS[code] : 500;
  const name = STATUS_CODES[statusCode] as string;
  const message = PUBLIC_MESSAGE[code] ?? (statusCode < 500 ? (error as Error).message : (BY_STATUS[statusCode] ?? `${name}.`));
  const body = { statusCode, error: name, code, message };
  if (statusCode !== 429 && statusCode !== 503) return { body };
  return { body, retryAfter: statusCode === 429 || SOON.has(code) ? RETRY_SOON_S : RETRY_LATER_S };
}
