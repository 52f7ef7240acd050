// Steps are taken out of the rows of their runs by run and token together.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase, waitFor } from '../../../test/support/index.js';
import { bucketOf, insertExecutions, newId, promoteSteps, requeueSteps, Store, sql } from '../index.js';

const database = useTestDatabase();
let store: Store;
beforeAll(async () => {
  store = await Store.open({ url: database.url, schema: database.schema });
});
afterAll(() => store.close());

const rows = <Row>(text: string, values: unknown[] = []) => store.db.rows<Row>(sql('spec', text), values);

const REST = [1_000, 1, 'worker', 'task', 'default', null];

describe('steps of several runs', () => {
  let ids: string[];
  beforeEach(async () => {
    ids = [newId(), newId()];
    await insertExecutions(
      store.db,
      ids.map((id) => ({ id, type: 'workflow' as const, targetName: 'w', version: 'v', queue: 'default' })),
    );
    // The second step of the second run has, by chance, the token of the step of the first run.
    const entry = (call: number, token: number) => [call, token, ...REST];
    const pending = [[entry(1, 5)], [entry(1, 6), entry(2, 5)]];
    for (const [n, id] of ids.entries())
      await rows('UPDATE rhythm.executions SET pending = $2 WHERE id = $1', [id, JSON.stringify(pending[n])]);
  });
  const steps = () => [5, 6].map((token, n) => ({ runId: ids[n], bucket: bucketOf(ids[n]), token }));
  const left = async () =>
    (await rows<{ pending: string | null }>('SELECT pending FROM rhythm.executions WHERE id = $1', [ids[1]]))[0].pending;

  it('get rows only by their own tokens', async () => {
    const promoted = await promoteSteps(store.db, 'worker', newId(), steps());
    expect(promoted.map(({ id }) => id).sort()).toEqual([`${ids[0]}:1`, `${ids[1]}:1`].sort());
    expect(JSON.parse((await left()) ?? 'null')).toEqual([[2, 5, ...REST]]);
  });

  it('are taken in the order in which commits lock their runs', async () => {
    const more = Array.from({ length: 10 }, () => newId());
    await insertExecutions(
      store.db,
      more.map((id) => ({ id, type: 'workflow' as const, targetName: 'w', version: 'v', queue: 'default' })),
    );
    await rows('UPDATE rhythm.executions SET pending = $2 WHERE id = ANY($1)', [more, JSON.stringify([[1, 7, ...REST]])]);
    const inOrder = more.toSorted((a, b) => bucketOf(a) - bucketOf(b) || (a < b ? -1 : 1));
    const lock = (ids_: readonly string[]) =>
      sql('spec_lock', `SELECT FROM rhythm.executions WHERE id IN ('${ids_.join("','")}') FOR NO KEY UPDATE NOWAIT`);
    let given: Promise<unknown> = Promise.resolve();
    await store.db.transaction(async (tx) => {
      await tx.rows(lock(inOrder.slice(0, 1)));
      given = requeueSteps(
        store.db,
        more.map((runId) => ({ runId, bucket: bucketOf(runId), token: 7 })),
      );
      await waitFor('the statement to wait', async () => {
        const waits = await rows(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return waits.length > 0;
      });
      // It holds none of those that a commit would lock next.
      await tx.rows(lock(inOrder.slice(1)));
    });
    expect(await given).toHaveLength(10);
  });

  it('are given back only by their own tokens', async () => {
    const given = await requeueSteps(store.db, steps());
    expect(given.map(({ id }) => id).sort()).toEqual([`${ids[0]}:1`, `${ids[1]}:1`].sort());
    expect(JSON.parse((await left()) ?? 'null')).toEqual([[2, 5, ...REST]]);
  });
});
