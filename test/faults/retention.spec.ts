// Retention when something else happens at the same moment: a worker that dies, another worker, a retry, a start of the same id.

import { describe, expect, it } from '@jest/globals';
import { insertExecutions, type NewExecution, type Runner, removeExecutions, retain, retryExecution, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';

const DAY = 86_400_000;
const AGES = { completedMs: 30 * DAY, failedMs: 30 * DAY, cancelledMs: 30 * DAY, historyMs: null, keysMs: 30 * DAY };
const BOUNDS = { look: 1_000, remove: 3, walkEveryMs: 0 };
const task = (id: string, extra: Partial<NewExecution> = {}): NewExecution => ({
  id,
  type: 'task',
  targetName: 't',
  queue: 'default',
  ...extra,
});

describe('retention', () => {
  const kit = useHarness();

  const ended = async (harness: Harness, names: readonly string[], status = 'completed') => {
    for (const id of names) await insertExecutions(harness.store.db, [task(id)]);
    await harness.query(
      `UPDATE rhythm.executions SET status = $2, finished_at = created_at - interval '40 days', created_at = created_at - interval '40 days' WHERE id = ANY($1)`,
      [names, status],
    );
    await harness.query(`DELETE FROM rhythm.work_queue WHERE execution_id = ANY($1)`, [names]);
  };
  const blocked = async (harness: Harness) =>
    (await harness.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)).length > 0;
  const NAMES = Array.from({ length: 10 }, (_, n) => `run-${n}`);

  it('removes nothing and passes nothing when the worker dies in the middle of a step; the next step does all of it', async () => {
    const harness = await kit.open({});
    await ended(harness, NAMES);
    const link = harness.store.link();
    const removedBefore: string[] = [];
    const dies = link.transaction(async (tx) => {
      removedBefore.push(...(await retain(tx, AGES, BOUNDS)).removed);
      const [{ pid }] = await tx.rows<{ pid: number }>(sql('spec_pid', 'SELECT pg_backend_pid() AS pid'));
      await harness.query('SELECT pg_terminate_backend($1)', [pid]);
      await tx.rows(sql('spec_after', 'SELECT 1'));
    });
    await expect(dies).rejects.toThrow();
    await link.close();
    expect(removedBefore).toHaveLength(3);
    expect(await harness.count('executions')).toBe(10);
    expect(await harness.count('tombstones')).toBe(0);
    const removed: string[] = [];
    for (let state = 'walking'; state === 'walking'; ) {
      const step = await harness.store.db.transaction((tx) => retain(tx, AGES, BOUNDS));
      ({ state } = step);
      removed.push(...step.removed);
    }
    expect(removed.sort()).toEqual(NAMES);
    expect(await harness.count('tombstones')).toBe(10);
  });

  it('lets one worker at a time do it, and each run is removed once', async () => {
    const harness = await kit.open({});
    await ended(harness, NAMES);
    const [one, two] = [harness.store.link(), harness.store.link()];
    try {
      await one.transaction(async (tx) => {
        expect((await retain(tx, AGES, BOUNDS)).removed).toHaveLength(3);
        expect(await two.transaction((other) => retain(other, AGES, BOUNDS))).toEqual({ state: 'other', looked: 0, removed: [] });
      });
      expect((await two.transaction((other) => retain(other, AGES, BOUNDS))).removed).toHaveLength(3);
      expect(await harness.count('executions')).toBe(4);
    } finally {
      await one.close();
      await two.close();
    }
  });

  it('keeps a failed run that is retried while the step is under way', async () => {
    const harness = await kit.open({});
    await ended(harness, ['retried', 'other'], 'failed');
    let step: Promise<{ removed: string[] }> | undefined;
    await harness.store.db.transaction(async (tx) => {
      expect(await retryExecution(tx, 'retried')).toBe(true);
      step = harness.store.db.transaction((other) => retain(other, AGES, BOUNDS));
      // A run that somebody holds is left to the next walk.
      expect((await step).removed).toEqual(['other']);
    });
    expect(await harness.status('retried')).toBe('pending');
    expect(await harness.count('tombstones', `id = 'retried'`)).toBe(0);
  });

  it.each([
    ['by itself', 'READ COMMITTED', false],
    ["in a caller's transaction", 'READ COMMITTED', true],
    ["in a caller's transaction with a snapshot", 'REPEATABLE READ', true],
  ])('never starts a run again that is removed at the same moment: a start %s', async (_, isolation, inTransaction) => {
    const harness = await kit.open({});
    await ended(harness, ['order-1']);
    const begin = async (tx: Runner) => {
      await tx.rows(sql('spec_isolation', `SET TRANSACTION ISOLATION LEVEL ${isolation}`));
      return insertExecutions(tx, [task('order-1')], { inTransaction });
    };
    let start: Promise<unknown> | undefined;
    await harness.store.db.transaction(async (tx) => {
      expect(await removeExecutions(tx, ['order-1'])).toEqual(['order-1']);
      start = (inTransaction ? harness.store.db.transaction(begin) : insertExecutions(harness.store.db, [task('order-1')])).catch(
        (error: { code: string }) => error.code,
      );
      await waitFor('the start to wait for the removal', () => blocked(harness));
    });
    // The transaction must be run again; it finds the tombstone then.
    expect(await start).toBe('40001');
    expect(await harness.count('executions')).toBe(0);
    expect(await insertExecutions(harness.store.db, [task('order-1')])).toEqual([{ id: 'order-1', outcome: 'existing' }]);
    expect(await harness.count('work_queue')).toBe(0);
  });
});
