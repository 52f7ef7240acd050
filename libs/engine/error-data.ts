// Errors of host code as plain data that can be stored and handed to a flow.

import type { ErrorData } from '../flow/index.js';

const LONGEST_MESSAGE = 10_000;
const DEEPEST_CAUSE = 8;

/**
 * An error (or whatever was thrown) as data. The host's stack is stored for people and never shown to the flow.
 * Never throws: a task may throw an object without a prototype, or one whose getters throw, and that must only fail the task.
 */
export function toErrorData(thrown: unknown): ErrorData {
  try {
    return readError(thrown, 0);
  } catch {
    return { name: 'Error', message: `Something was thrown that cannot be read (${typeof thrown}). Throw an Error.` };
  }
}

function readError(thrown: unknown, depth: number): ErrorData {
  if (thrown === null || typeof thrown !== 'object') return { name: 'Error', message: clip(String(thrown)) };
  const error = thrown as { name?: unknown; message?: unknown; code?: unknown; data?: unknown; stack?: unknown; cause?: unknown };
  return {
    name: typeof error.name === 'string' && error.name ? clip(error.name) : 'Error',
    message: clip(typeof error.message === 'string' ? error.message : String(thrown)),
    ...(typeof error.code === 'string' || typeof error.code === 'number' ? { code: String(error.code) } : {}),
    ...(error.data !== undefined && isJson(error.data) ? { data: error.data } : {}),
    ...(typeof error.stack === 'string' ? { stack: clip(error.stack) } : {}),
    ...(error.cause !== undefined && error.cause !== null && depth < DEEPEST_CAUSE ? { cause: readError(error.cause, depth + 1) } : {}),
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

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
