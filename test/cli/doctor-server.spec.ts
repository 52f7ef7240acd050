// `rhythm doctor` on a real server whose role, database and tables are set up badly: each is found, with what to do.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../support/index.js';
import { callRhythm } from './call-cli.js';

const database = useTestDatabase();
let client: pg.Client;
const environment: Record<string, string> = {};
beforeAll(async () => {
  Object.assign(environment, { RHYTHM_DATABASE_URL: database.url, RHYTHM_DATABASE_SCHEMA: database.schema });
  Object.assign(process.env, environment);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await callRhythm(['migrate']);
});

interface Finding {
  check: string;
  state: string;
  found: string;
  advice?: string;
}

async function findings(): Promise<Finding[]> {
  return (JSON.parse((await callRhythm(['doctor', '--json'])).out) as { data: { findings: Finding[] } }).data.findings;
}

/** Doctor's findings while a statement is in force. */
async function during(set: string, reset: string): Promise<Finding[]> {
  await client.query(set);
  try {
    return await findings();
  } finally {
    await client.query(reset);
  }
}

const name = () => new URL(database.url).pathname.slice(1);
const onDatabase = (setting: string, value: string) =>
  during(`alter database ${name()} set ${setting} = ${value}`, `alter database ${name()} reset ${setting}`);

describe('rhythm doctor on a real server', () => {
  // Before the database is dropped.
  afterAll(async () => {
    for (const key of Object.keys(environment)) delete process.env[key];
    await client.end();
  });

  it('reads every part of how it is operated', async () => {
    const checks = (await findings()).map(({ check }) => check);
    expect(checks).toEqual(expect.arrayContaining(['durability', 'backup', 'replication', 'sessions', 'transaction ids', 'vacuum']));
  });

  it.each([
    ['statement_timeout', "'3s'", 'sessions', /statement_timeout is 3\.0s/],
    ['default_transaction_isolation', "'serializable'", 'sessions', /"serializable"/],
    ['default_transaction_read_only', 'on', 'sessions', /default_transaction_read_only is on/],
  ])('finds %s = %s', async (setting, value, check, found) => {
    expect(await onDatabase(setting, value)).toContainEqual(expect.objectContaining({ check, found: expect.stringMatching(found) }));
  });

  it('finds that commits may be lost', async () => {
    expect(await onDatabase('synchronous_commit', 'off')).toContainEqual(
      expect.objectContaining({ check: 'durability', state: 'warning', found: expect.stringMatching(/ off: /) }),
    );
  });

  it('finds a queue table that is not vacuumed, and a clock that was replaced', async () => {
    const { schema } = database;
    const off = `alter table ${schema}.work_queue`;
    expect(await during(`${off} set (autovacuum_enabled = off)`, `${off} reset (autovacuum_enabled)`)).toContainEqual(
      expect.objectContaining({ check: 'vacuum', found: 'autovacuum is off for work_queue' }),
    );
    const clock = (body: string) =>
      `create or replace function ${schema}.clock() returns timestamptz language sql stable parallel safe return ${body}`;
    expect(await during(clock("statement_timestamp() + interval '1 day'"), clock('statement_timestamp()'))).toContainEqual(
      expect.objectContaining({ check: 'clock', state: 'broken', found: expect.stringMatching(/24h ahead of/) }),
    );
    expect((await findings()).filter(({ check, state }) => ['vacuum', 'clock'].includes(check) && state !== 'ok')).toEqual([]);
  });

  it('goes on with the other checks on a server that does not have all functions of PostgreSQL', async () => {
    // A view of the same name in the path before the catalogue, as a service has one that refuses.
    const { schema } = database;
    await client.query(
      `create view ${schema}.pg_replication_slots as select 1 / 0 as slot_name, true as active, '' as wal_status, null::pg_lsn as restart_lsn`,
    );
    try {
      const found = await onDatabase('search_path', `${schema}, pg_catalog`);
      expect(found).toContainEqual(
        expect.objectContaining({
          check: 'server',
          state: 'warning',
          found: expect.stringMatching(/does not say how it is operated: division by zero/),
        }),
      );
      expect(found.map(({ check }) => check)).toEqual(expect.arrayContaining(['transactions', 'schema', 'vacuum', 'queues']));
    } finally {
      await client.query(`drop view ${schema}.pg_replication_slots`);
    }
  });

  it('does not count a worker that has missed its heartbeats as alive, long before its work is taken from it', async () => {
    const { schema } = database;
    const beat = (seconds: number) =>
      `insert into ${schema}.worker_heartbeats (worker_id, host, pid, queues, tasks, concurrency, code_version, beat_at)
      values ('w', 'h', 1, '{default}', '{}', 1, '0', now() - interval '${seconds} seconds')`;
    const remove = `delete from ${schema}.worker_heartbeats`;
    const of = (found: Finding[]) => found.find(({ check }) => check === 'workers')!.found;
    expect(of(await during(beat(4), remove))).toBe('1 alive');
    expect(of(await during(beat(20), remove))).toBe('none is alive, 1 without a recent heartbeat');
  });

  it('finds a replication slot that nothing uses, without keeping its WAL from being counted', async () => {
    const slot = `unused_${name().slice(-8)}`;
    const { rows } = await client.query(`show wal_level`);
    expect(rows[0].wal_level).not.toBe('minimal');
    const found = await during(`select pg_create_physical_replication_slot('${slot}', true)`, `select pg_drop_replication_slot('${slot}')`);
    // It keeps less than a gigabyte, so there is nothing to report yet; the slot was read without an error.
    expect(found.find(({ check }) => check === 'replication')?.state).toBe('ok');
  });
});
