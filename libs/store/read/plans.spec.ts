// What reads or steers one run finds its rows by their keys: it does not read whole tables, however many runs there are.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import {
  bucketOf,
  countStatuses,
  getExecutions,
  listExecutions,
  newId,
  pauseExecutions,
  promoteSteps,
  type Runner,
  readHistory,
  readResults,
  readTree,
  removeExecutions,
  requestCancel,
  requeueSteps,
  requeueUnknownSteps,
  Store,
  sendSignals,
  sql,
} from '../index.js';

const RUNS = 30_000;
const IN_PLACE = 50;
const WORKER = 'worker';

const database = useTestDatabase();
const ids = Array.from({ length: RUNS }, (_, n) => `run-${n}`);
const busy = ids.slice(0, IN_PLACE);
const run = busy[0];
const steps = busy.map((id) => ({ runId: id, bucket: bucketOf(id), token: 5 }));
let store: Store;

beforeAll(async () => {
  store = await Store.open({ url: database.url, schema: database.schema });
  const pending = JSON.stringify([[4, 5, Date.now(), 4, WORKER, 'task', 'default', null]]);
  const fill = [
    `INSERT INTO rhythm.executions (id, bucket, type, target_name, queue, version, fence, calls, status, pending, created_at, finished_at)
      SELECT id, bucket, 'workflow', 'w', 'default', 'v', 1, 4, CASE WHEN n <= ${IN_PLACE} THEN 'suspended' ELSE 'completed' END,
        CASE WHEN n <= ${IN_PLACE} THEN '${pending}' END, now() - interval '1 day', CASE WHEN n > ${IN_PLACE} THEN now() END
      FROM unnest($1::text[], $2::smallint[]) WITH ORDINALITY AS u(id, bucket, n)`,
    `INSERT INTO rhythm.steps (execution_id, bucket, call, started_turn, consumed_turn, name, worker_id, started_at, finished_at)
      SELECT id, bucket, c, c, c + 1, 'task', '${WORKER}', now(), now() FROM unnest($1::text[], $2::smallint[]) AS u(id, bucket), generate_series(1, 3) c`,
  ];
  for (const text of fill) await store.db.rows(sql('spec', text), [ids, ids.map(bucketOf)]);
  await store.db.rows(
    sql(
      'spec',
      `INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences) SELECT $3, 'c', $1, $2, array_fill(-1::bigint, ARRAY[$4::integer])`,
    ),
    [busy, busy.map(bucketOf), WORKER, IN_PLACE],
  );
  await store.db.rows(sql('spec', 'ANALYZE rhythm.executions, rhythm.steps, rhythm.claims'));
});
afterAll(() => store.close());

const CALLS: Record<string, (db: Runner) => Promise<unknown>> = {
  get: (db) => getExecutions(db, [run, `${run}:1`, `${run}:4`]),
  result: (db) => readResults(db, [run, `${run}:1`, `${run}:4`, `${run}:9`]),
  tree: (db) => readTree(db, run),
  history: (db) => readHistory(db, run),
  'list of the children of a run': (db) => listExecutions(db, { parentId: run }),
  'list of what runs': (db) => listExecutions(db, { status: 'running' }),
  'counts of a short time': (db) => countStatuses(db, new Date()),
  signal: (db) => sendSignals(db, [{ executionId: `${run}:1`, name: 'go' }]),
  cancel: (db) => requestCancel(db, [`${run}:4`]),
  pause: (db) => pauseExecutions(db, [`${busy[1]}:4`]),
  remove: (db) => removeExecutions(db, [ids[1_000]]),
  'rows for steps': (db) => promoteSteps(db, WORKER, newId(), steps.slice(2, 20)),
  'steps given back': (db) => requeueSteps(db, steps.slice(20, 40)),
  'unknown steps': (db) => requeueUnknownSteps(db, WORKER, () => []),
};

describe('the plans of statements', () => {
  it.each(Object.keys(CALLS))('read no whole table: %s', async (name) => {
    const undo = new Error('undo');
    const scans = (tx: Runner) =>
      tx.rows<{ table: string; scans: number }>(
        sql(
          'spec_scans',
          `SELECT relname AS table, seq_scan::integer AS scans FROM pg_stat_xact_user_tables WHERE schemaname = $1 AND relname IN ('executions', 'steps') ORDER BY 1`,
        ),
        [database.schema],
      );
    const made = store.db.transaction(async (tx) => {
      // A statement that is prepared gets its final plan after five executions.
      for (let n = 0; n < 6; n++) await CALLS[name](tx);
      const before = await scans(tx);
      await CALLS[name](tx);
      expect(await scans(tx)).toEqual(before);
      throw undo;
    });
    await expect(made).rejects.toBe(undo);
  });
});
