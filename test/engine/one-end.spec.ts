// Completion, cancel and time limit race for the end of an execution: each execution ends once.

import { afterEach, describe, expect, it } from '@jest/globals';
import type { Engine } from '../../libs/engine/index.js';
import { ANY, lockOverdue, readOverdue, requestCancel, Store, sql } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

describe('complete, cancel and timeout', () => {
  const kit = useHarness();
  const STATUS_AFTER = { complete: 'completed', cancel: 'cancelled', timeout: 'failed' } as const;
  type Ending = keyof typeof STATUS_AFTER;
  const ORDERS: [Ending, Ending][] = [
    ['complete', 'cancel'],
    ['complete', 'timeout'],
    ['cancel', 'complete'],
    ['cancel', 'timeout'],
    ['timeout', 'complete'],
    ['timeout', 'cancel'],
  ];

  it.each(ORDERS)('have one winner: %s before %s', async (first, second) => {
    let complete = (_: string) => {};
    const result = new Promise<string>((resolve) => {
      complete = resolve;
    });
    const harness = await kit.open({ tasks: { slow: () => result } });
    await recordEnds(harness);
    // This one has no room for anything else while it runs the task, so the other one handles the cancel.
    await harness.engine({ concurrency: 1 });
    const id = await harness.start('slow', undefined, { options: { totalTimeoutMs: 3_600_000 } });
    await waitFor('the task to run', async () => (await harness.status(id)) === 'running');
    await harness.engine();

    const waiting = async () => (await harness.query(WAITING_FOR_LOCK)).length;
    // Each returns once its writer has read the fence and waits for the lock on the row, which is granted in the order of asking.
    const end: Record<Ending, () => Promise<unknown>> = {
      complete: async () => {
        const before = await waiting();
        complete('done');
        await waitFor('the result to wait for the lock', async () => (await waiting()) === before + 1);
      },
      cancel: async () => {
        const before = await waiting();
        await requestCancel(harness.store.db, [id]);
        harness.store.hints.hint('work', 'default');
        await waitFor('the cancel to be claimed', async () => (await harness.count('work_queue')) === 0);
        // After the task's end its own engine has room and may claim the cancel; it then writes it after the result, without waiting for a lock.
        if (first !== 'complete') await waitFor('the cancel to wait for the lock', async () => (await waiting()) === before + 1);
      },
      timeout: async () => {
        const before = await waiting();
        await harness.query('UPDATE rhythm.scheduled_queue SET due_at = now() WHERE execution_id = $1', [id]);
        harness.store.hints.hint('timer', ANY);
        await waitFor('the timers of both engines to wait for the lock', async () => (await waiting()) === before + 2);
      },
    };
    await harness.store.db.transaction(async (tx) => {
      await tx.rows(sql('spec_lock', 'SELECT 1 FROM rhythm.executions WHERE id = $1 FOR UPDATE'), [id]);
      await end[first]();
      await end[second]();
    });

    expect(await harness.ended(id)).toMatchObject({ status: STATUS_AFTER[first] });
    await nothingLeft(harness);
    expect(await endsOf(harness)).toEqual([{ id, status: STATUS_AFTER[first] }]);
    expectConsistent(await harness.ended(id), 'done');
  });

  it('have one winner for each of many, in whatever order they come', async () => {
    const harness = await kit.open({ tasks: { brief: () => new Promise((resolve) => setTimeout(() => resolve('done'), 20)) } });
    await recordEnds(harness);
    await harness.engine();
    await harness.engine();
    const ids = await Promise.all(Array.from({ length: 60 }, () => harness.start('brief', undefined, { options: { totalTimeoutMs: 25 } })));
    await Promise.all(
      ids.map((id, n) => new Promise((resolve) => setTimeout(resolve, n)).then(() => requestCancel(harness.store.db, [id]))),
    );
    const ends = await Promise.all(ids.map((id) => harness.ended(id)));
    await nothingLeft(harness);
    // Each was ended by one write, and its status is that of this write.
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect((await endsOf(harness)).sort(byId)).toEqual(ends.map(({ id, status }) => ({ id, status })).sort(byId));
    for (const id of ids) expectConsistent(await harness.ended(id), 'done');
  });

  describe('a time limit, when the run moves each time after the limit was read,', () => {
    let stores: Store[] = [];
    afterEach(async () => {
      await Promise.all(stores.map((store) => store.close()));
      stores = [];
    });
    const running = async (harness: Harness) =>
      (
        await harness.query<{ fence: string; cancelled_at: Date | null }>(
          'SELECT fence, cancelled_at FROM rhythm.executions WHERE parent_id IS NULL',
        )
      )[0];

    /** An engine that does this whenever it has read the time limits that have passed. */
    async function engineThat(harness: Harness, afterRead: () => Promise<void>): Promise<Engine> {
      const store = await Store.open({
        url: kit.url,
        schema: kit.schema,
        autoMigrate: false,
        intercept: async (statement, run) => {
          const rows = await run();
          if (statement === 'rhythm_read_overdue') await afterRead();
          return rows;
        },
      });
      stores.push(store);
      return harness.engine({}, store);
    }

    it('ends it all the same', async () => {
      const harness = await kit.open({
        flows: { busy: `for (;;) await Task.run('noop')` },
        tasks: { noop: () => 1 },
        engine: { maxSteps: 100 },
      });
      let moved = 0;
      const engine = await engineThat(harness, async () => {
        const { fence } = await running(harness);
        await waitFor('the run to move', async () => (await running(harness)).fence !== fence);
        moved++;
      });
      const id = await harness.start('busy', undefined, { options: { totalTimeoutMs: 100 } });
      expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { name: 'TimeoutError' } });
      expect(moved).toBeGreaterThan(0);
      await engine.stop();
    });

    it('reports the end that was written', async () => {
      const stubborn = `try { for (;;) await Task.run('noop') } finally { for (;;) await Task.run('noop') }`;
      const harness = await kit.open({ flows: { stubborn }, tasks: { noop: () => 1 }, engine: { maxSteps: 100, cancelGraceMs: 60_000 } });
      const engine = await engineThat(harness, async () => {
        await requestCancel(harness.store.db, [id]);
        harness.store.hints.hint('work', 'default');
        await waitFor('the cancel to be applied', async () => (await running(harness)).cancelled_at !== null);
      });
      const id = await harness.start('stubborn', undefined, { options: { totalTimeoutMs: 300 } });
      expect(await harness.ended(id)).toMatchObject({ status: 'cancelled' });
      await engine.stop();
      const ends = harness.events.filter((event) => event.type === 'finished' && event.executionId === id);
      expect(ends).toEqual([expect.objectContaining({ status: 'cancelled' })]);
    });

    it('waits for no start in an open transaction of a caller that found the run', async () => {
      const harness = await kit.open({ flows: { rests: `await Signal.when('never')` }, tasks: {} });
      const id = await harness.start('rests', undefined, { id: 'named', options: { totalTimeoutMs: 100 } });
      await waitFor('the limit to pass', async () => (await harness.count('scheduled_queue', 'due_at < now()')) === 1);
      const [limit] = await readOverdue(harness.store.db, 1);
      await harness.store.db.transaction(async (caller) => {
        await caller.rows(sql('spec_hold', 'SELECT FROM rhythm.executions WHERE id = $1 FOR KEY SHARE'), [id]);
        await harness.store.db.transaction(async (tx) => expect(await lockOverdue(tx, limit)).toMatchObject({ id, kind: 'deadline' }));
      });
    });
  });

  const WAITING_FOR_LOCK = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%rhythm.%'`;

  /** Records every write that ends an execution, also one that ends it again. */
  async function recordEnds(harness: Harness): Promise<void> {
    await harness.query('CREATE TABLE IF NOT EXISTS rhythm.spec_ends (id text, status text)');
    await harness.query(`CREATE OR REPLACE FUNCTION rhythm.spec_record_end() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO rhythm.spec_ends VALUES (NEW.id, NEW.status); RETURN NULL; END $$`);
    await harness.query(`CREATE OR REPLACE TRIGGER spec_record_end AFTER UPDATE ON rhythm.executions FOR EACH ROW
      WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION rhythm.spec_record_end()`);
  }

  const endsOf = (harness: Harness) => harness.query<{ id: string; status: string }>('SELECT id, status FROM rhythm.spec_ends');

  async function nothingLeft(harness: Harness): Promise<void> {
    const left = async () => Promise.all(['work_queue', 'scheduled_queue', 'claims', 'inbox'].map((table) => harness.count(table)));
    await waitFor('nothing to be left', async () => (await left()).every((rows) => rows === 0));
  }

  /** Status, value and error are those of the same end. */
  function expectConsistent({ status, value, error }: Awaited<ReturnType<Harness['ended']>>, result: string): void {
    if (status === 'completed') expect({ value, error }).toEqual({ value: result, error: null });
    else
      expect({ value, error }).toMatchObject({
        value: undefined,
        error: { name: status === 'cancelled' ? 'CancelledError' : 'TimeoutError' },
      });
  }
});
