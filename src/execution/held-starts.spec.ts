// A start whose id another open transaction is starting waits alone: starts of other ids never wait with it.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { insertExecutions, type NewExecution, Store, sql } from '../../libs/store/index.js';
import { eventually, useTestDatabase } from '../../test/support/index.js';
import { StartBatcher } from './start-batcher.js';

const execution = (id: string, input?: string): NewExecution => ({ id, type: 'task', targetName: 't', queue: 'q', input });
const UNDO = new Error('undo');

describe('a start whose id is being started in an open transaction', () => {
  const database = useTestDatabase();
  let store: Store;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema, poolSize: 5 });
  });
  afterAll(() => store.close());

  /** Runs this while a transaction has started these ids; the transaction ends as `commit` says. */
  async function whileHeld(ids: readonly string[], commit: boolean, work: () => Promise<void>): Promise<void> {
    const held = store.db.transaction(async (tx) => {
      await insertExecutions(
        tx,
        ids.map((id) => execution(id)),
        { inTransaction: true },
      );
      await work();
      if (!commit) throw UNDO;
    });
    await (commit ? held : expect(held).rejects.toBe(UNDO));
  }

  it.each([
    { ends: 'committed', commit: true, outcome: 'existing' },
    { ends: 'rolled back', commit: false, outcome: 'created' },
  ])('keeps no other start waiting, and is $outcome when that transaction is $ends', async ({ commit, outcome }) => {
    const name = `a-${commit}`;
    const batcher = new StartBatcher(store.db);
    let twin: Promise<{ id: string; outcome: string }> | undefined;
    let isOver = false;
    await whileHeld([name], commit, async () => {
      const others = Array.from({ length: 50 }, (_, n) => execution(`${name}-other-${n}`));
      const all = others.map((one) => batcher.start(one));
      twin = batcher.start(execution(name)).finally(() => {
        isOver = true;
      });
      expect((await Promise.all(all)).map((one) => one.outcome)).toEqual(others.map(() => 'created'));
      expect(isOver).toBe(false);
    });
    expect(await twin).toEqual({ id: name, outcome });
  });

  it('waits with all others of the same id, each with an outcome of its own', async () => {
    const batcher = new StartBatcher(store.db);
    let starts: Promise<{ outcome: string }[]> | undefined;
    await whileHeld(['same'], false, async () => {
      starts = Promise.all([
        batcher.start(execution('same', '1')),
        batcher.start(execution('same', '1')),
        batcher.start(execution('same', '2')),
      ]);
      await eventually(async () => expect(await waitingForLock()).toBeGreaterThan(0));
      await batcher.start(execution('not the same'));
    });
    expect((await starts!).map(({ outcome }) => outcome)).toEqual(['created', 'existing', 'conflict']);
  });

  it('leaves connections of the pool to everything else, however many ids are held', async () => {
    const batcher = new StartBatcher(store.db);
    const ids = Array.from({ length: 40 }, (_, n) => `many-${n}`);
    let starts: Promise<{ outcome: string }[]> | undefined;
    await whileHeld(ids, true, async () => {
      starts = Promise.all(ids.map((id) => batcher.start(execution(id))));
      await batcher.start(execution('free'));
      for (let n = 0; n < 20; n++) expect(await waitingForLock()).toBeLessThanOrEqual(4);
    });
    expect((await starts!).every(({ outcome }) => outcome === 'existing')).toBe(true);
  });

  async function waitingForLock(): Promise<number> {
    const [{ n }] = (await store.db.rows<{ n: number }>(
      sql(
        'spec_waiting',
        `SELECT count(*)::integer AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      ),
    )) as [{ n: number }];
    return n;
  }
});
