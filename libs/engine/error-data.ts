// Errors of host code as plain data that can be stored and handed to a flow.

import type { ErrorData } from '../flow/index.js';

const LONGEST_MESSAGE = 10_000;
const DEEPEST_CAUSE = 8;

/**
 * An error (or whatever was thrown) as data. The host's stack is stored for people and never shown to the flow.
 * `dataBytes` limits the `data` of the error and its causes together. Never throws: a task may throw an object without a prototype, or one whose getters throw, and that must only fail the task.
 */
export function toErrorData(thrown: unknown, dataBytes = Number.POSITIVE_INFINITY): ErrorData {
  try {
    return readError(thrown, 0, { left: dataBytes, limit: dataBytes });
  } catch {
    return { name: 'Error', message: `Something was thrown that cannot be read (${typeof thrown}). Throw an Error.` };
  }
}

/** How many bytes of data the errors of a chain may still have. */
interface DataLimit {
  left: number;
  readonly limit: number;
}

function readError(thrown: unknown, depth: number, bytes: DataLimit): ErrorData {
  if (thrown === null || typeof thrown !== 'object') return { name: 'Error', message: clip(String(thrown)) };
  const error = thrown as { name?: unknown; message?: unknown; code?: unknown; data?: unknown; stack?: unknown; cause?: unknown };
  const data = error.data === undefined ? undefined : jsonOf(error.data);
  const size = data === undefined ? 0 : Buffer.byteLength(data);
  const isTooLarge = size > bytes.left;
  if (!isTooLarge) bytes.left -= size;
  const message = clip(typeof error.message === 'string' ? error.message : String(thrown));
  return {
    name: typeof error.name === 'string' && error.name ? clip(error.name) : 'Error',
    message: isTooLarge
      ? `${message} (Its data was left out: ${size} bytes as JSON; the limit is ${bytes.limit}, limits.payloadBytes, for an error with its causes.)`
      : message,
    ...(typeof error.code === 'string' || typeof error.code === 'number' ? { code: String(error.code) } : {}),
    ...(data !== undefined && !isTooLarge ? { data: error.data } : {}),
    ...(typeof error.stack === 'string' ? { stack: clip(error.stack) } : {}),
    ...(error.cause !== undefined && error.cause !== null && depth < DEEPEST_CAUSE
      ? { cause: readError(error.cause, depth + 1, bytes) }
      : {}),
  };
}

/** The error of an attempt or run that took too long. */
export function timeoutError(what: string, ms: number): ErrorData {
  return { name: 'TimeoutError', code: 'RHYTHM_TIMEOUT', message: `${what} took longer than ${ms} ms.` };
}

export function cancelledError(reason: string | undefined): ErrorData {
  return { name: 'CancelledError', code: 'RHYTHM_CANCELLED', message: reason ?? 'The execution was cancelled.' };
}

function clip(text: string): string {
  return text.length > LONGEST_MESSAGE ? `${text.slice(0, LONGEST_MESSAGE)}…` : text;
}

function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
