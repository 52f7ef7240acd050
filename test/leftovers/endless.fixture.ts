// Not a spec of ours: a test that never ends, with a database and processes, for leftovers.spec.ts to interrupt.
import { it } from '@jest/globals';
import pg from 'pg';
import { spawnWorker, useTestDatabase } from '../support/index.js';

const database = useTestDatabase();

it('never ends', async () => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<{ data_directory: string }>('show data_directory');
  const busy = spawnWorker('test/support/fixtures/counting-worker.ts');
  const frozen = spawnWorker('test/support/fixtures/counting-worker.ts');
  await Promise.all([busy.line('tick 1'), frozen.line('tick 1')]);
  frozen.freeze();
  const report = { data: rows[0]?.data_directory, pids: [process.pid, process.ppid, busy.pid, frozen.pid] };
  process.stderr.write(`\nREPORT ${JSON.stringify(report)}\n`);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}, 600_000);
