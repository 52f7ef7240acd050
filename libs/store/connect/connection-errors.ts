// Marks errors of the store's own connections: whoever gets one from a service can tell it from those of the app's other connections.

import { isDatabaseError } from './database-errors.js';

// Symbol.for: two copies of the package in one process (ESM and CommonJS) know each other's marks.
const MARK = Symbol.for('rhythm:connection-error');

// 57P0…: the server shuts down or starts; 08…: the connection is broken; 53300: it accepts no more connections.
const SERVER_UNAVAILABLE = /^(57P0|08|53300)/;
const SOCKET_ERROR = /^E[A-Z_]+$/;
const NO_REPLY = /timeout|Connection terminated|connection is closed/i;

/** Rethrows the error of a statement, with a mark if the database could not be reached. */
export function rethrowMarked(error: unknown): never {
  if (isUnavailable(error)) Object.defineProperty(error, MARK, { value: true });
  throw error;
}

/** Whether this is the error of a store whose database could not be reached, or did not reply. */
export function isConnectionError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && (error as { [MARK]?: boolean })[MARK] === true;
}

function isUnavailable(error: unknown): error is Error {
  if (!(error instanceof Error) || Object.isFrozen(error) || MARK in error) return false;
  const { code, message } = (error instanceof AggregateError ? error.errors[0] : error) as { code?: unknown; message: string };
  if (isDatabaseError(error)) return SERVER_UNAVAILABLE.test(String(code));
  return typeof code === 'string' ? SOCKET_ERROR.test(code) || SERVER_UNAVAILABLE.test(code) : NO_REPLY.test(message);
}
