// What diagnosis reads of a server: its version, its open transactions, and whether there is a pooler in between.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../../../test/support/index.js';
import { PoolRunner } from './pool-runner.js';
import { isTransactionPooler, longTransactions, probeServer } from './probe-server.js';

describe('a probe of the server', () => {
  const database = useTestDatabase();
  const connection = () => ({ url: database.url, schema: database.schema });
  let db: PoolRunner;
  beforeAll(() => {
    db = new PoolRunner(connection(), { max: 2 });
  });
  afterAll(() => db.close());

  it('reads its version, its clock and its connections', async () => {
    const before = Date.now();
    const facts = await probeServer(db);
    expect(facts).toMatchObject({ readOnly: false, version: expect.stringMatching(/^\d+/) });
    expect(facts.versionNumber).toBeGreaterThan(140_000);
    expect(facts.usedConnections).toBeGreaterThan(0);
    expect(Math.abs(facts.now - before)).toBeLessThan(60_000);
  });

  it('finds a transaction that is open for longer than given', async () => {
    const client = new pg.Client({ connectionString: database.url, application_name: 'forgetful' });
    await client.connect();
    try {
      const { rows } = await client
        .query('begin; select pg_backend_pid() as pid')
        .then((results) => (results as unknown as pg.QueryResult[])[1]!);
      expect(await longTransactions(db, 0)).toMatchObject([{ pid: rows[0].pid, application: 'forgetful', state: 'idle in transaction' }]);
      expect(await longTransactions(db, 60)).toEqual([]);
    } finally {
      await client.end();
    }
  });

  it('sees that two sessions have two backends', async () => {
    expect(await isTransactionPooler(connection())).toBe(false);
  });
});
