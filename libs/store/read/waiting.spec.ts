// Lists and counts of what waits, with 100,000 suspended runs: right, in pages without gaps, and each page reads only its own rows.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase, waitFor } from '../../../test/support/index.js';
import {
  bucketOf,
  countWaiting,
  countWaitingKinds,
  type ExecutionFilter,
  type ExecutionPage,
  listExecutions,
  type Runner,
  Store,
  sql,
} from '../index.js';
import { versionsInUse } from '../manage/definitions.js';
import { waitName, waitNameOf } from '../waiting-rows.js';

const RUNS = 100_000;
const IN_PLACE = 20;
const WORKER = 'worker';
// One row in `waiting` for each, a second one for every tenth: a timer beside a signal.
const KIND = `CASE WHEN n % 4 = 0 THEN 'timer' WHEN n % 4 = 1 THEN 'task' ELSE 'signal' END`;
const NAME = `CASE WHEN n % 4 = 0 THEN '' WHEN n % 4 = 1 THEN 'charge' WHEN n % 5000 = 2 THEN 'rare' ELSE 'paid' END`;

const database = useTestDatabase();
let store: Store;
const id = (n: number) => `run-${String(n).padStart(6, '0')}`;

beforeAll(async () => {
  store = await Store.open({ url: database.url, schema: database.schema });
  const ids = Array.from({ length: RUNS }, (_, n) => id(n + 1));
  const given = `unnest($1::text[], $2::smallint[]) WITH ORDINALITY AS u(id, bucket, n)`;
  const fill = [
    `INSERT INTO rhythm.executions (id, bucket, type, target_name, queue, version, tags, fence, calls, turns, status, created_at)
      SELECT id, bucket, 'workflow', CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, 'default', 'v' || n % 3, CASE WHEN n % 100 = 2 THEN ARRAY['red'] END, n, 1, 1,
        'suspended', timestamptz '2030-01-01' + n / 7 * interval '1 second' FROM ${given}`,
    `INSERT INTO rhythm.waiting (execution_id, bucket, turn, place, first_of_kind, kind, name, workflow, version, line, function, calls, created_at)
      SELECT id, bucket, 1, 0, true, ${KIND}, ${NAME}, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END, 'v' || n % 3, n % 4 + 1, 'main', 1,
        timestamptz '2030-01-01' + n / 7 * interval '1 second' FROM ${given} WHERE n > ${IN_PLACE}`,
    `INSERT INTO rhythm.waiting (execution_id, bucket, turn, place, first_of_kind, kind, name, workflow, version, line, function, calls, created_at)
      SELECT id, bucket, 1, 1, true, 'timer', '', 'even', 'v' || n % 3, 9, 'main', 1, timestamptz '2030-01-01' + n / 7 * interval '1 second' FROM ${given} WHERE n > ${IN_PLACE} AND n % 4 = 2`,
  ];
  for (const text of fill) await store.db.rows(sql('spec', text), [ids, ids.map(bucketOf)]);
  const busy = ids.slice(0, IN_PLACE);
  const pending = JSON.stringify([[1, 5, Date.now(), 1, WORKER, 'task', 'default', null]]);
  await store.db.rows(sql('spec', 'UPDATE rhythm.executions SET pending = $2 WHERE id = ANY($1)'), [busy, pending]);
  await store.db.rows(
    sql(
      'spec',
      `INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences) VALUES ($3, 'c', $1, $2, array_fill(-1::bigint, ARRAY[${IN_PLACE}]))`,
    ),
    [busy, busy.map(bucketOf), WORKER],
  );
  // Held at their fence: they run.
  await store.db.rows(sql('spec', `INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences) VALUES ($1, 'd', $2, $3, $4)`), [
    WORKER,
    [id(RUNS), id(RUNS - 1)],
    [bucketOf(id(RUNS)), bucketOf(id(RUNS - 1))],
    [RUNS, RUNS - 1],
  ]);
  // A vacuum marks no page while another transaction, such as an autovacuum's, is older than its rows.
  await waitFor('a vacuum of the whole table', async () => {
    await store.db.rows(sql('spec', 'VACUUM ANALYZE rhythm.waiting, rhythm.executions'));
    const marked = `SELECT relallvisible = relpages AS done FROM pg_class WHERE oid = 'rhythm.waiting'::regclass`;
    return (await store.db.rows<{ done: boolean }>(sql('spec', marked)))[0].done;
  });
}, 120_000);
afterAll(() => store.close());

/** Runs a call, and returns its result with the pages that its statements read. */
async function buffersOf<T>(call: (db: Runner) => Promise<T>): Promise<{ result: T; buffers: number; plans: string }> {
  let buffers = 0;
  let plans = '';
  const explaining: Runner = {
    rows: async (statement, values) => {
      const explain = sql('spec_explain', `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement.text}`);
      const [{ 'QUERY PLAN': plan }] = await store.db.rows<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(explain, values);
      buffers += plan[0].Plan['Shared Hit Blocks'] + plan[0].Plan['Shared Read Blocks'];
      plans += JSON.stringify(plan);
      return store.db.rows(statement, values);
    },
  };
  return { result: await call(explaining), buffers, plans };
}

const listed = (filter: ExecutionFilter) => buffersOf((db) => listExecutions(db, { limit: 20, ...filter }));
/** Counted down from the newest. */
const newest = (matches: (n: number) => boolean, most = 20, from = RUNS) => {
  const found: string[] = [];
  for (let n = from; n > 0 && found.length < most; n--) if (matches(n)) found.push(id(n));
  return found;
};
const idsOf = ({ items }: ExecutionPage) => items.map((item) => item.id);

// A page of twenty runs of each kind: about eight buffers per run, for its row and for what it waits for. The table of runs has thousands.
const FEW = 800;

describe('what 100,000 suspended runs wait for', () => {
  it.each<[string, ExecutionFilter, (n: number) => boolean]>([
    ['a signal by name', { waitsFor: { kind: 'signal', name: 'rare' } }, (n) => n % 4 > 1 && n % 5000 === 2 && n > IN_PLACE],
    ['timers', { waitsFor: { kind: 'timer' } }, (n) => n % 4 === 0 || n % 4 === 2],
    ['any task', { waitsFor: { kind: 'task' } }, (n) => n % 4 === 1],
    ['a task of one workflow', { waitsFor: { kind: 'task', name: 'charge' }, name: 'odd' }, (n) => n % 4 === 1],
    [
      'a signal with a tag',
      { waitsFor: { kind: 'signal', name: 'paid' }, tag: 'red' },
      (n) => n % 100 === 2 && n % 4 > 1 && n % 5000 !== 2,
    ],
  ])('is listed newest first, for %s', async (_, filter, matches) => {
    expect(idsOf((await listed(filter)).result)).toEqual(newest(matches));
  });

  it('is listed without those that run when only suspended ones are asked for', async () => {
    const { result } = await listed({ status: 'suspended' });
    expect(idsOf(result)).toEqual(newest((n) => n < RUNS - 1));
    expect(result.items.every(({ status }) => status === 'suspended')).toBe(true);
    const [running] = (await listed({ waitsFor: { kind: 'timer' }, limit: 1 })).result.items;
    expect(running).toMatchObject({ id: id(RUNS), status: 'running' });
    expect(idsOf((await listed({ waitsFor: { kind: 'timer' }, status: 'suspended', limit: 1 })).result)).toEqual([id(RUNS - 2)]);
  });

  it('is listed in pages, each run once, and runs whose steps run in place are among what is suspended', async () => {
    const seen: string[] = [];
    const before = new Date(Date.parse('2030-01-01T00:00:10Z'));
    for (let cursor: string | undefined; ; ) {
      const page = (await listed({ status: 'suspended', createdBefore: before, cursor, limit: 7 })).result;
      seen.push(...idsOf(page));
      cursor = page.next;
      if (!cursor) break;
    }
    expect(seen).toEqual(newest(() => true, RUNS, 69));
  });

  it.each<[string, ExecutionFilter]>([
    ['everything that is suspended', { status: 'suspended' }],
    ['a rare signal', { waitsFor: { kind: 'signal', name: 'rare' } }],
    ['a common signal', { waitsFor: { kind: 'signal', name: 'paid' } }],
    ['what nothing waits for', { waitsFor: { kind: 'child' } }],
    ['timers of one workflow', { waitsFor: { kind: 'timer' }, name: 'even' }],
  ])('is listed from the rows of the page alone: %s', async (_, filter) => {
    const first = await listed(filter);
    expect(first.buffers).toBeLessThan(FEW);
    if (!first.result.next) return;
    // As many in the middle of the list.
    const created = new Date('2030-01-01T02:00:00Z');
    const middle = await listed({ ...filter, createdBefore: created });
    expect(middle.buffers).toBeLessThan(FEW);
    expect((await listed({ ...filter, cursor: middle.result.next ?? first.result.next })).buffers).toBeLessThan(FEW);
    expect(first.plans).not.toContain('"Seq Scan","Parallel Aware":false,"Async Capable":false,"Relation Name":"executions"');
  });

  it('is counted by kind and by place from an index that stores equal keys once', async () => {
    const of = (matches: (n: number) => boolean) => newest(matches, RUNS).filter((_, at, all) => at < all.length).length;
    const isLetGo = (n: number) => n > IN_PLACE;
    const kinds = await buffersOf(countWaitingKinds);
    expect(kinds.result).toEqual({
      timer: of((n) => isLetGo(n) && n % 2 === 0),
      task: of((n) => isLetGo(n) && n % 4 === 1),
      signal: of((n) => isLetGo(n) && n % 4 > 1),
    });
    const counts = await buffersOf((db) => countWaiting(db, 100, 'even', 'v1'));
    expect(counts.result).toContainEqual({
      ...{ workflow: 'even', version: 'v1', kind: 'signal', name: 'paid', line: 3, function: 'main' },
      runs: of((n) => isLetGo(n) && n % 4 === 2 && n % 3 === 1 && n % 5000 !== 2),
    });
    expect(counts.result.map(({ kind, name, line }) => `${kind} ${name} ${line}`).sort()).toEqual([
      'signal paid 3',
      'signal rare 3',
      'timer  1',
      'timer  9',
    ]);
    expect((await countWaiting(store.db, 1)).length).toBe(1);
    const versions = await buffersOf(versionsInUse);
    expect(versions.result.reduce((sum, { runs }) => sum + runs, 0)).toBe(of(isLetGo));
    expect(versions.buffers).toBeLessThan(700);
    // 125,000 rows.
    expect(kinds.buffers).toBeLessThan(300);
    expect(counts.buffers).toBeLessThan(100);
  });

  it('has names of any length, cut in SQL as in JavaScript', async () => {
    const names = ['short', 'x'.repeat(200), 'x'.repeat(201), `${'x'.repeat(201)}y`, '😀'.repeat(150), '😀'.repeat(201), 'ä'.repeat(512)];
    const rows = await store.db.rows<{ name: string }>(
      sql('spec_names', `SELECT ${waitNameOf('u.name')} AS name FROM unnest($1::text[]) WITH ORDINALITY AS u(name, n) ORDER BY n`),
      [names],
    );
    expect(rows.map(({ name }) => name)).toEqual(names.map(waitName));
    expect(new Set(names.map(waitName)).size).toBe(names.length);
    expect(Math.max(...rows.map(({ name }) => Buffer.byteLength(name)))).toBeLessThanOrEqual(800);
  });
});
