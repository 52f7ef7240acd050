// A claim from the head takes the most urgent and then the oldest; one behind a place takes what is further back, and the urgent.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { sql } from '../connect/statement.js';
import { bucketOf } from '../ids.js';
import { insertExecutions } from '../manage/insert-executions.js';
import type { NewExecution } from '../new-execution.js';
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

  it.each([
    ['from the head', undefined],
    [
      'behind a place, packed with others',
      new Map([
        ['q', { rank: -100, seq: 0 }],
        ['r', { rank: -100, seq: 0 }],
      ]),
    ],
  ])('returns every task whole, also one with something unusual, %s', async (_, behind: QueuePlaces | undefined) => {
    const task = (id: string, more: Partial<NewExecution> = {}): NewExecution => ({
      id,
      fresh: true,
      type: 'task',
      targetName: 't',
      queue: 'q',
      ...more,
    });
    const started = [
      task('plain', { input: '{"b":[1,-0,"\\u001f\\u001e"],  "a":"é𝄞\\n,\\"\\\\"}' }),
      task('without input'),
      task('with a large input', { input: JSON.stringify('x'.repeat(5_000)) }),
      task('null', { input: 'null' }),
      task('odd, "id" \\ {}', { input: '""' }),
      task('with \x1f and \x1e', { input: '1' }),
      task('unreadable', { input: '"\\u0000\\ud800"' }),
      task('urgent', { priority: 7, input: '2' }),
      task('another name', { targetName: 'u', input: '3' }),
      task('another queue', { queue: 'r', input: '4' }),
      task('with options', { options: { timeoutMs: 5 }, input: '5' }),
      task('with tags', { tags: ['x'], input: '6' }),
      task('run:7', { parentId: 'run', parentCall: 7, input: '7' }),
      task('key:a:b:1:12', { parentId: 'key:a:b:1', parentCall: 12, input: '8' }),
      task('run:8', { parentId: 'run', input: '8' }),
      task('own name', { parentId: 'run', parentCall: 9, input: '9' }),
    ];
    // A packed one and one that is not, of each kind.
    await insertExecutions(store.db, started);
    await store.db.rows(sql('spec', `UPDATE rhythm.executions SET attempts = 2, crashes = 1, progress = '{"done":1}' WHERE id = 'null'`));
    const { items } = await claimWork(store.db, 'worker', `claim ${++claims}`, ['q', 'r'], 50, behind);
    const [{ fence }] = items;
    const inOrder = started.filter(({ id }) => id !== 'urgent');
    expect(items.map(({ seq, ...item }) => item)).toEqual(
      [...started.filter(({ id }) => id === 'urgent'), ...inOrder].map((one) => ({
        id: one.id,
        bucket: bucketOf(one.id),
        type: 'task',
        name: one.targetName,
        queue: one.queue,
        priority: one.priority ?? 0,
        status: 'pending',
        fence,
        attempts: one.id === 'null' ? 2 : 0,
        crashes: one.id === 'null' ? 1 : 0,
        parentId: one.parentId ?? null,
        parentCall: one.parentCall ?? null,
        version: null,
        options: one.options ?? null,
        tags: one.tags ?? null,
        progress: one.id === 'null' ? { done: 1 } : null,
        run: true,
        input: one.input ?? null,
        createdAt: null,
        cancelled: false,
      })),
    );
    const [claim] = await store.db.rows<{ ids: string[] }>(sql('spec', 'SELECT ids FROM rhythm.claims WHERE worker_id = $1'), ['worker']);
    expect([...claim.ids].sort()).toEqual(started.map(({ id }) => id).sort());
    const seqs = items.slice(1).map(({ seq }) => seq);
    expect([...seqs].sort((a, b) => a - b)).toEqual(seqs);
  });

  it('behind a place takes of other queues from their head', async () => {
    await add(['a', 'b']);
    const { places } = await take(1);
    await add(['c'], { queue: 'other' });
    expect((await take(9, places, ['other', 'q'])).ids.sort()).toEqual(['b', 'c']);
  });
});
