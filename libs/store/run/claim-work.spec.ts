// A claim from the head takes the most urgent and then the oldest; one behind a place takes what is further back, and the urgent.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { sql } from '../connect/statement.js';
import { insertExecutions } from '../manage/insert-executions.js';
import { Store } from '../store.js';
import { claimWork, type QueuePlaces } from './claim-work.js';

describe('a claim', () => {
  const database = useTestDatabase();
  let store: Store;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
  });
  afterAll(() => store.close());
  beforeEach(async () => {
    await store.db.rows(sql('spec', 'TRUNCATE rhythm.executions, rhythm.work_queue, rhythm.claims'));
  });

  let claims = 0;
  const add = (ids: string[], { queue = 'q', priority = 0 } = {}) =>
    insertExecutions(
      store.db,
      ids.map((id) => ({ id, fresh: true, type: 'task', targetName: 't', queue, priority })),
    );
  const take = async (limit: number, behind?: QueuePlaces, queues = ['q']) => {
    const { items, ...claim } = await claimWork(store.db, 'worker', `claim ${++claims}`, queues, limit, behind);
    return { ids: items.map(({ id }) => id), ...claim };
  };

  it('returns how far it came in each queue', async () => {
    await add(['a', 'b'], { queue: 'q' });
    await add(['c', 'd'], { queue: 'r', priority: 5 });
    const { ids, places } = await take(3, undefined, ['q', 'r']);
    expect(ids).toEqual(['c', 'a', 'b']);
    expect([...places.keys()].sort()).toEqual(['q', 'r']);
    expect(places.get('r')?.rank).toBe(-5);
    const rest = await take(3, places, ['q', 'r']);
    expect(rest.ids).toEqual(['d']);
  });

  it('behind a place takes what is further back and what is more urgent, and nothing that is in front of it', async () => {
    await add(['first', 'second', 'third', 'fourth', 'fifth']);
    const { places } = await take(2);
    // Given back or committed late, it is where it was before.
    await store.db.rows(
      sql(
        'spec',
        `INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence) SELECT 'q', 0, 1, bucket, id, fence FROM rhythm.executions WHERE id = 'first'`,
      ),
    );
    await add(['urgent'], { priority: 9 });
    await add(['idle'], { priority: -9 });
    expect((await take(3, places)).ids).toEqual(['urgent', 'third', 'fourth']);
    expect((await take(9, places)).ids).toEqual(['fifth', 'idle']);
    expect((await take(9)).ids).toEqual(['first']);
  });

  it('behind a place takes of other queues from their head', async () => {
    await add(['a', 'b']);
    const { places } = await take(1);
    await add(['c'], { queue: 'other' });
    expect((await take(9, places, ['other', 'q'])).ids.sort()).toEqual(['b', 'c']);
  });
});
