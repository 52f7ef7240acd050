// Bounds how long the rest of a transaction may wait, for its client and for locks, before the server ends it.

import { type Runner, sql } from './statement.js';

// A tighter bound that the session has already is left alone.
const bound = (setting: string, ms: string) => {
  const present = `current_setting('${setting}')::interval`;
  return `CASE WHEN ${present} = interval '0' OR ${present} > ${ms}::integer * interval '1 millisecond'
    THEN set_config('${setting}', ${ms}::integer || 'ms', true) END`;
};
const BOUND = sql('bound_idle', `SELECT ${bound('idle_in_transaction_session_timeout', '$1')}, ${bound('lock_timeout', '$2')}`);

/** From here to its end the server rolls the transaction back when its client is silent, or a lock is not to be had, for longer than this. */
export async function boundIdle(tx: Runner, { silentMs, lockMs }: { silentMs: number; lockMs: number }): Promise<void> {
  await tx.rows(BOUND, [Math.ceil(silentMs), Math.ceil(lockMs)]);
}
