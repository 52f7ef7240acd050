// One run of the specs: its server, and the removal of everything it created.
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { startEmbedded } from '../../libs/embedded/index.js';
import { killLeftovers } from './leftover-processes.js';

/** Environment variables about the run; jest passes them on to its worker processes. */
export const RUN_ID = 'RHYTHM_TEST_RUN';
export const SERVER_URL = 'RHYTHM_TEST_SERVER';

export interface TestRun {
  close(): Promise<void>;
}

export async function openTestRun(): Promise<TestRun> {
  const id = process.env[RUN_ID] ?? randomBytes(4).toString('hex');
  process.env[RUN_ID] = id;
  const given = process.env.RHYTHM_DATABASE_URL || process.env.DATABASE_URL;
  const server = given ? { url: given, stop: async () => {} } : await startEmbedded({ durable: false });
  process.env[SERVER_URL] = server.url;
  // So that specs have the same environment whether or not a server was given.
  delete process.env.RHYTHM_DATABASE_URL;
  delete process.env.DATABASE_URL;
  // While this connection is open, the run is alive: what a killed run left on a given server is dropped by the next run.
  const marker = new pg.Client({ connectionString: server.url, application_name: `rhythm_test_${id}` });
  marker.on('error', () => {});
  await marker.connect();
  await dropLeftovers(marker, id);
  return {
    async close() {
      killLeftovers(id);
      await dropRun(marker, id);
      await marker.end();
      await server.stop();
    },
  };
}

/** Drops what an interrupted run left on a given server. (The keeper stops the run's own server in any case.) */
export async function clearRun(url: string, id: string): Promise<void> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    await dropRun(db, id);
  } finally {
    await db.end();
  }
}

/** Drops every database and schema of a run. */
async function dropRun(db: pg.Client, id: string): Promise<void> {
  const { rows } = await db.query<{ kind: string; name: string }>(
    `select 'database' as kind, datname as name from pg_database where datname like $1
     union all select 'schema', nspname from pg_namespace where nspname like $1`,
    [`rhythm\\_test\\_${id}\\_%`],
  );
  for (const { kind, name } of rows) {
    await db.query(kind === 'database' ? `drop database if exists ${name} with (force)` : `drop schema if exists ${name} cascade`);
  }
}

async function dropLeftovers(db: pg.Client, self: string): Promise<void> {
  const { rows } = await db.query<{ id: string }>(
    `select distinct substring(name from '^rhythm_test_([0-9a-f]{8})_') as id
       from (select datname as name from pg_database union all select nspname from pg_namespace) as names
      where name ~ '^rhythm_test_[0-9a-f]{8}_'`,
  );
  for (const { id } of rows) {
    const { rowCount } = await db.query('select 1 from pg_stat_activity where application_name = $1', [`rhythm_test_${id}`]);
    if (id !== self && rowCount === 0) await dropRun(db, id);
  }
}
