// Lists: every filter, every status from its own source, and pages without gaps or duplicates.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { sql } from '../connect/statement.js';
import { insertExecutions } from '../manage/insert-executions.js';
import { pauseExecutions } from '../manage/pause-execution.js';
import type { NewExecution } from '../new-execution.js';
import { Store } from '../store.js';
import { listExecutions } from './list-executions.js';

describe('listExecutions', () => {
  const database = useTestDatabase();
  let store: Store;
  const task = (id: string, extra: Partial<NewExecution> = {}): NewExecution => ({
    id,
    type: 'task',
    targetName: 'one',
    queue: 'default',
    ...extra,
  });

  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
    await insertExecutions(
      store.db,
      Array.from({ length: 25 }, (_, n) => task(`t${String(n).padStart(2, '0')}`)),
    );
    await insertExecutions(store.db, [
      task('w', { type: 'workflow', targetName: 'flow', tags: ['red, "hot"', 'x'] }),
      task('w:1', { parentId: 'w', parentCall: 1, queue: 'other' }),
      task('own', { parentId: 'w', parentCall: 2 }),
      task('later', { options: { delayMs: 60_000 } }),
    ]);
    await pauseExecutions(store.db, ['t00']);
    await store.db.rows(sql('spec', `UPDATE rhythm.executions SET status = 'completed', finished_at = now() WHERE id IN ('t01', 't02')`));
  });
  afterAll(() => store.close());
  const ids = async (filter: Parameters<typeof listExecutions>[1]) =>
    (await listExecutions(store.db, { limit: 100, ...filter })).items.map((item) => item.id).sort();

  it('filters by status, type, name, queue, parent and tag', async () => {
    expect(await ids({ status: 'paused' })).toEqual(['t00']);
    expect(await ids({ status: 'completed' })).toEqual(['t01', 't02']);
    expect(await ids({ status: ['paused', 'completed'] })).toEqual(['t00', 't01', 't02']);
    expect(await ids({ status: 'pending', name: 'one', parentId: null })).toHaveLength(23);
    expect(await ids({ type: 'workflow' })).toEqual(['w']);
    expect(await ids({ name: 'flow' })).toEqual(['w']);
    expect(await ids({ queue: 'other' })).toEqual(['w:1']);
    expect(await ids({ parentId: 'w' })).toEqual(['own', 'w:1']);
    expect(await ids({ tag: 'red, "hot"' })).toEqual(['w']);
    expect(await ids({ createdBefore: new Date(0) })).toEqual([]);
  });

  it('pages newest first, each execution once', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listExecutions(store.db, { limit: 7, cursor });
      seen.push(...page.items.map((item) => item.id));
      cursor = page.next;
    } while (cursor);
    expect(seen).toHaveLength(29);
    expect(new Set(seen).size).toBe(29);
    await expect(listExecutions(store.db, { cursor: 'nonsense' })).rejects.toThrow('unchanged');
  });

  it('lists children of the same time in the order of their calls, the last first, on one page or on many', async () => {
    const calls = Array.from({ length: 12 }, (_, n) => n + 1);
    await insertExecutions(store.db, [
      task('twelve', { type: 'workflow' }),
      ...calls.map((call) => task(`twelve:${call}`, { parentId: 'twelve', parentCall: call, queue: 'of-twelve' })),
    ]);
    await store.db.rows(sql('spec', `UPDATE rhythm.executions SET created_at = now() WHERE queue = 'of-twelve'`));
    const expected = calls.map((call) => `twelve:${call}`).reverse();
    for (const filter of [{ parentId: 'twelve' }, { queue: 'of-twelve' }])
      for (const limit of [5, 100]) {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await listExecutions(store.db, { ...filter, limit, cursor });
          seen.push(...page.items.map(({ id }) => id));
          cursor = page.next;
        } while (cursor);
        expect(seen).toEqual(expected);
      }
    await store.db.rows(sql('spec', `DELETE FROM rhythm.executions WHERE id = 'twelve' OR queue = 'of-twelve'`));
    await store.db.rows(sql('spec', `DELETE FROM rhythm.work_queue WHERE execution_id LIKE 'twelve%'`));
  });

  it('finds workflows by name first, and the tasks of the same name when asked for tasks', async () => {
    await insertExecutions(store.db, [task('both-w', { type: 'workflow', targetName: 'both' }), task('both-t', { targetName: 'both' })]);
    expect(await ids({ name: 'both' })).toEqual(['both-w']);
    expect(await ids({ name: 'both', type: 'task' })).toEqual(['both-t']);
    expect(await ids({ name: 'both', type: 'workflow' })).toEqual(['both-w']);
    await store.db.rows(sql('spec', `DELETE FROM rhythm.executions WHERE id LIKE 'both-%'`));
    await store.db.rows(sql('spec', `DELETE FROM rhythm.work_queue WHERE execution_id LIKE 'both-%'`));
  });

  it('gives executions that are started together times of their own, so that a page of them need not sort them all', async () => {
    await insertExecutions(
      store.db,
      Array.from({ length: 1000 }, (_, n) => task(`many${n}`, { targetName: 'many' })),
    );
    const listed = (await listExecutions(store.db, { name: 'many', limit: 1000 })).items.map((item) => item.id);
    const [{ n }] = await store.db.rows<{ n: number }>(
      sql('spec_times', `SELECT count(DISTINCT created_at)::integer AS n FROM rhythm.executions WHERE target_name = 'many'`),
    );
    expect(listed).toHaveLength(1000);
    expect(n).toBeGreaterThan(100);
  });

  it('returns for a start with the same id the same run, or a conflict that names what differs', async () => {
    const start = async (extra: Partial<NewExecution>) => (await insertExecutions(store.db, [task('same', extra)]))[0];
    expect(await start({ input: '{"a":1,"b":2}' })).toEqual({ id: 'same', outcome: 'created' });
    expect(await start({ input: '{"b":2,"a":1}' })).toEqual({ id: 'same', outcome: 'existing' });
    expect(await start({ input: '{"a":2}' })).toEqual({ id: 'same', outcome: 'conflict', differs: 'input' });
    expect(await start({ input: '{"a":1,"b":2}', targetName: 'two' })).toMatchObject({ differs: 'name' });
    const twice = await insertExecutions(store.db, [task('pair', { input: '1' }), task('pair', { input: '2' })]);
    expect(twice.map(({ outcome }) => outcome)).toEqual(['created', 'conflict']);
  });
});
