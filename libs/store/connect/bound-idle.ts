// Limits how long the rest of a transaction may wait, for its client and for locks, before the server ends it.

import { type Runner, sql } from './statement.js';

// A lower limit that the session already has stays.
const bound = (setting: string, ms: string) => {
  const present = `current_setting('${setting}')::interval`;
  return `CASE WHEN ${present} = interval '0' OR ${present} > ${ms}::integer * interval '1 millisecond'
    THEN set_config('${setting}', ${ms}::integer || 'ms', true) END`;
};
const BOUND = sql('bound_idle', `SELECT ${bound('idle_in_transaction_session_timeout', '$1')}, ${bound('lock_timeout', '$2')}`);

/** Until it ends, the server rolls the transaction back when its client is silent, or a lock cannot be had, for longer than this. */
export async function boundIdle(tx: Runner, { silentMs, lockMs }: { silentMs: number; lockMs: number }): Promise<void> {
  await tx.rows(BOUND, [Math.ceil(silentMs), Math.ceil(lockMs)]);
}
