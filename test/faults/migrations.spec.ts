// Five processes of one deploy start at once on an empty database.

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type MigrationReport, SCHEMA_VERSION } from '../../libs/store/index.js';
import { Harness } from '../engine/harness.js';
import { endWorkers, spawnWorker, useTestDatabase, useWorkers, waitFor } from '../support/index.js';

describe('migrations', () => {
  const database = useTestDatabase();
  useWorkers();

  it('are run by one of five processes that start at once, and all five serve', async () => {
    const { url, schema } = database;
    const db = new pg.Client({ connectionString: url });
    await db.connect();
    try {
      expect((await db.query('SELECT 1 FROM pg_tables WHERE schemaname = $1', [schema])).rowCount).toBe(0);
      // Their lock is held until all five wait for it: otherwise the first may be done before the last has begun.
      await db.query(`SELECT pg_advisory_lock(hashtextextended($1, 0))`, [`rhythm.migrate.${schema}`]);
      const processes = Array.from({ length: 5 }, () =>
        spawnWorker('test/faults/migrate-main.ts', { env: { WORKER_URL: url, WORKER_SCHEMA: schema } }),
      );
      await waitFor(
        'five processes to wait for the lock',
        async () => {
          const { rows } = await db.query<{ n: number }>(
            `SELECT count(DISTINCT application_name)::integer AS n FROM pg_stat_activity
             WHERE application_name LIKE 'deploy %' AND datname = current_database() AND query ~ 'advisory|ROLLBACK'`,
          );
          return rows[0].n === 5;
        },
        { timeoutMs: 60_000 },
      );
      await db.query(`SELECT pg_advisory_unlock(hashtextextended($1, 0))`, [`rhythm.migrate.${schema}`]);

      const reports = await Promise.all(
        processes.map(async (one) => JSON.parse((await one.line(/report (.*)/, 60_000))[1]) as MigrationReport),
      );
      const workers = await Promise.all(processes.map(async (one) => (await one.line(/ready (\S+)/, 60_000))[1]));
      expect(reports.filter((report) => report.applied.length > 0)).toHaveLength(1);
      expect(reports.filter((report) => report.before === 0)).toHaveLength(1);
      expect(reports.map((report) => report.after)).toEqual(Array(5).fill(SCHEMA_VERSION));
      expect(new Set(workers).size).toBe(5);

      const harness = await Harness.open({ url, schema, keep: true });
      try {
        await waitFor('five heartbeats', async () => (await harness.count('worker_heartbeats')) === 5);
        expect(await harness.ended(await harness.start('one'))).toMatchObject({ status: 'completed', value: 1 });
      } finally {
        await harness.close();
      }
      await endWorkers();
    } finally {
      await db.end();
    }
  }, 120_000);
});
