// Bounds how long the rest of a transaction may be silent before the server ends it.

import { type Runner, sql } from './statement.js';

// A tighter bound that the session has already is left alone.
const SETTING = `current_setting('idle_in_transaction_session_timeout')::interval`;
const BOUND = sql(
  'bound_idle',
  `SELECT set_config('idle_in_transaction_session_timeout', $1::integer || 'ms', true) WHERE ${SETTING} = interval '0' OR ${SETTING} > $1::integer * interval '1 millisecond'`,
);

/** From here to its end the transaction is rolled back by the server when its client is silent for longer than this. */
export async function boundIdle(tx: Runner, ms: number): Promise<void> {
  await tx.rows(BOUND, [ms]);
}
