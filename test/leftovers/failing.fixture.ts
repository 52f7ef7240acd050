// Not a spec of ours: a test that is failing, for leftovers.spec.ts to run.
import { expect, it } from '@jest/globals';
import pg from 'pg';
import { useTestDatabase } from '../support/index.js';

const database = useTestDatabase();

it('is failing', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  await client.end();
  process.stderr.write(`\nREPORT ${JSON.stringify({ data: rows[0]?.data_directory })}\n`);
  expect(rows).toHaveLength(2);
});
