// Errors that PostgreSQL itself reported: what they mean for the outcome, and which of them are worth another try.

import pg from 'pg';

/** True when PostgreSQL itself reported an error, so the outcome is known: nothing was written. */
export function isDatabaseError(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError && typeof error.code === 'string' && !/^(57P0|08)/.test(error.code);
}

/** A serialization failure or a deadlock: the same statement may succeed when it is run again. */
export function isRetryable(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/** Runs work again after a serialization failure or a deadlock, a few times. */
export async function retrying<T>(work: () => Promise<T>, attempts = 5): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isRetryable(error) || attempt >= attempts) throw error;
    }
  }
}
