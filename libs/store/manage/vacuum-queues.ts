// Vacuums the queue tables under load: every claim pays for dead rows at the head of the queue.

import { type Runner, sql } from '../connect/statement.js';

// A VACUUM every 200 ms raised groups of 10 workflows from 2.9k to 10.9k steps/s, and of 50 from 10k to 19k.
const TABLES = ['work_queue', 'claims', 'inbox', 'scheduled_queue'] as const;
const VACUUMS = TABLES.map((table) => ({
  table,
  vacuum: sql(`vacuum_${table}`, `VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF, SKIP_LOCKED) rhythm.${table}`),
}));
// A VACUUM reads the whole of each index: of ten million timers, seconds. So each table rests for so many times as long as its last
// VACUUM took. Small tables take a few milliseconds, and are vacuumed as often as the caller asks.
const REST = 10;
// By whichever process. The server writes the time when a VACUUM ends; before version 15 it does so only after a moment.
const SINCE = sql(
  'since_vacuum',
  `SELECT t.name AS table, (extract(epoch FROM clock_timestamp() - pg_stat_get_last_vacuum_time(('rhythm.' || t.name)::regclass)) * 1000)::float8 AS ms
  FROM unnest($1::text[]) AS t(name)`,
);
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

/** How long the last VACUUM of each table by this worker took and when it ended, in milliseconds. */
export type VacuumTimes = Map<string, { took: number; endedAt: number }>;

/**
 * Vacuums the queue tables once, without those that must rest. Returns false if another worker is doing so. `db` keeps one session and
 * takes the lock; `own` is a connection outside a transaction, which only the worker that vacuums opens (for a hundred workers, opening
 * it takes a second).
 */
export async function vacuumQueues(
  db: Runner,
  own: Runner,
  times: VacuumTimes = new Map(),
  now = () => performance.now(),
): Promise<boolean> {
  const [{ mine }] = await db.rows<{ mine: boolean }>(LOCK, [0]);
  if (!mine) return false;
  try {
    const since = new Map((await own.rows<{ table: string; ms: number | null }>(SINCE, [TABLES])).map(({ table, ms }) => [table, ms]));
    for (const { table, vacuum } of VACUUMS) {
      const last = times.get(table);
      const sinceMs = Math.min(since.get(table) ?? Number.POSITIVE_INFINITY, last ? now() - last.endedAt : Number.POSITIVE_INFINITY);
      if (sinceMs < REST * (last?.took ?? 0)) continue;
      const startedAt = now();
      await own.rows(vacuum);
      const endedAt = now();
      times.set(table, { took: endedAt - startedAt, endedAt });
    }
    return true;
  } finally {
    await db.rows(UNLOCK, [0]);
  }
}
