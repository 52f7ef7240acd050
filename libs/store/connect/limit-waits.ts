// Limits how long the rest of a transaction may wait, for its client and for locks, before the server ends it.

import { type Runner, sql } from './statement.js';

// A lower limit that the session already has stays.
const limit = (setting: string, ms: string) => {
  const present = `current_setting('${setting}')::interval`;
  return `CASE WHEN ${present} = interval '0' OR ${present} > ${ms}::integer * interval '1 millisecond'
    THEN set_config('${setting}', ${ms}::integer || 'ms', true) END`;
};
const LIMIT = sql('limit_waits', `SELECT ${limit('idle_in_transaction_session_timeout', '$1')}, ${limit('lock_timeout', '$2')}`);

/** Until it ends, the server rolls the transaction back when its client is silent, or a lock cannot be had, for longer than this. */
export async function limitWaits(tx: Runner, { silentMs, lockMs }: { silentMs: number; lockMs: number }): Promise<void> {
  await tx.rows(LIMIT, [Math.ceil(silentMs), Math.ceil(lockMs)]);
}
