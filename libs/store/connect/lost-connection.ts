// Distinguishes a lost connection from an error that PostgreSQL reported, even in a transaction that belongs to the app.

import type { EntityManager } from 'typeorm';

/** Whether the connection of this transaction still works. In a failed transaction the server replies with an error, which is a reply too. */
export async function stillConnected(manager: EntityManager): Promise<boolean> {
  return manager.query('SELECT 1').then(() => true, isServerError);
}

/** The server gave up waiting for a lock (`lock_timeout`); the statement had no effect. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error).code === '55P03';
}

/** True when the server itself reported the error, so that the outcome is known. 57P0x and 08xxx mean that the connection is ending. */
// The app may have its own copy of pg, so errors are recognized by their fields and not by their class.
export function isServerError(error: unknown): boolean {
  const { severity, code } = codeOf(error);
  return typeof severity === 'string' && typeof code === 'string' && !/^(57P0|08)/.test(code);
}

function codeOf(error: unknown): { severity?: unknown; code?: unknown } {
  const { driverError } = error as { driverError?: unknown };
  return (driverError ?? error) as { severity?: unknown; code?: unknown };
}
