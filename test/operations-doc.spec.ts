// The queries of docs/operations.md run on a migrated database, and the checks of doctor that it names exist.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { createDataSource, migrate } from '../libs/store/index.js';
import { runChecks } from '../src/cli/doctor-checks.js';
import { loadSettings } from '../src/config/load-settings.js';
import { useTestDatabase } from './support/index.js';

const PAGE = readFileSync('docs/operations.md', 'utf8');
const QUERIES = [...PAGE.matchAll(/```sql\n([\s\S]*?)```/g)].map(([, query = '']) => query);

const database = useTestDatabase();
let client: pg.Client;
beforeAll(async () => {
  const source = createDataSource(database);
  await source.initialize();
  await migrate(source);
  await source.destroy();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

describe('docs/operations.md', () => {
  // Before the database is dropped.
  afterAll(() => client.end());

  it.each(QUERIES)('has a query that runs: %s', async (query) => {
    const { fields } = await client.query(query.replaceAll('rhythm.', `${database.schema}.`));
    expect(fields.length).toBeGreaterThan(0);
  });

  it('names the checks of doctor, each of which it has a section for', async () => {
    const { url, schema } = database;
    const { settings } = loadSettings({ options: { database: { url, schema } }, env: {}, folder: '/' });
    const checks = new Set((await runChecks(settings)).map(({ check }) => check));
    const named = [...PAGE.matchAll(/^## .*\((.*)\)$/gm)].flatMap(([, names = '']) =>
      names.split(', ').map((name) => name.replaceAll('*', '')),
    );
    expect(named.filter((name) => !checks.has(name))).toEqual([]);
    const elsewhere = ['schema', 'workers', 'queues'];
    expect([...checks].filter((check) => !named.includes(check) && !elsewhere.includes(check))).toEqual([]);
  });
});
