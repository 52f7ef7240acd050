// Vacuums the queue tables under load: every claim pays for dead rows at the head of the queue.

import { type Runner, sql } from '../connect/statement.js';

// A VACUUM every 200 ms raised groups of 10 workflows from 2.9k to 10.9k steps/s, and of 50 from 10k to 19k.
const TABLES = ['work_queue', 'claims', 'inbox', 'scheduled_queue'] as const;
const VACUUMS = TABLES.map((table) => sql(`vacuum_${table}`, `VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF, SKIP_LOCKED) rhythm.${table}`));
const LOCK = sql('vacuum_lock', `SELECT pg_try_advisory_lock(hashtextextended('rhythm.vacuum', $1)) AS mine`);
const UNLOCK = sql('vacuum_unlock', `SELECT pg_advisory_unlock(hashtextextended('rhythm.vacuum', $1))`);
const MAY = sql(
  'may_vacuum',
  `SELECT pg_has_role(current_user, c.relowner, 'USAGE') AS may FROM pg_class c WHERE c.oid = 'rhythm.work_queue'::regclass`,
);

/** Whether this user owns the queue tables; only an owner's VACUUM does anything. */
export async function mayVacuum(db: Runner): Promise<boolean> {
  return (await db.rows<{ may: boolean }>(MAY))[0]?.may ?? false;
}

/**
 * Vacuums the queue tables once. Returns false if another worker is doing so. `db` keeps one session and takes the lock; `own` is
 * a connection outside a transaction, which only the worker that vacuums opens (for a hundred workers, opening it takes a second).
 */
export async function vacuumQueues(db: Runner, own: Runner): Promise<boolean> {
  const [{ mine }] = await db.rows<{ mine: boolean }>(LOCK, [0]);
  if (!mine) return false;
  try {
    for (const vacuum of VACUUMS) await own.rows(vacuum);
    return true;
  } finally {
    await db.rows(UNLOCK, [0]);
  }
}
