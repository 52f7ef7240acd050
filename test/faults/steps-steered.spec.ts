// Steps in place that are cancelled or removed while their run does not move, and while somebody else keeps its row locked.

import { afterEach, describe, expect, it } from '@jest/globals';
import { bucketOf, newId, promoteSteps, readPending, removeExecutions, type Store, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { HeldTasks, inPlace, nothingIsLeft } from './steps.js';

describe('a step in place', () => {
  const kit = useHarness();
  const stores: Store[] = [];
  afterEach(async () => {
    for (const store of stores.splice(0)) await store.close();
  });
  const stepOf = async (harness: Harness, id: string) => {
    const [{ pending }] = await harness.query<{ pending: string }>('SELECT pending FROM rhythm.executions WHERE id = $1', [id]);
    return { runId: id, bucket: bucketOf(id), token: readPending(pending)[0].token };
  };
  // A run that has ended and has left a step in place.
  const LEAVES = `Task.run('hold'); await Task.run('quick'); return 'gone';`;

  it('is not left without its run when it gets a row while the run is removed', async () => {
    const tasks = new HeldTasks();
    const harness = await kit.open({ flows: { f: LEAVES }, tasks: { hold: tasks.hold, quick: () => 1 } });
    const engine = await harness.engine();
    const id = await harness.start('f');
    await tasks.began(`${id}:1`);
    await harness.ended(id);
    const step = await stepOf(harness, id);
    let removing: Promise<string[]> = Promise.resolve([]);
    let isRemoved = false;
    await harness.store.db.transaction(async (tx) => {
      expect(await promoteSteps(tx, 'another worker', newId(), [step])).toHaveLength(1);
      removing = removeExecutions(harness.store.db, [id]);
      void removing.then(() => {
        isRemoved = true;
      });
      await waitFor('the removal to end or to wait', async () => {
        const waits = await harness.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return isRemoved || waits.length > 0;
      });
    });
    expect(await removing).toEqual([]);
    expect((await harness.query('SELECT id FROM rhythm.executions ORDER BY id')).map((row) => (row as { id: string }).id)).toEqual([
      id,
      `${id}:1`,
    ]);
    await engine.stop();
  });

  it('gets its row although somebody keeps the row of another run locked', async () => {
    kit.expectProblems();
    const tasks = new HeldTasks();
    const harness = await kit.open({
      flows: { f: `try { await Task.run('hold'); } catch (error) { return error.message; }` },
      tasks: { hold: tasks.hold },
    });
    await harness.engine();
    const [locked, free] = [await harness.start('f'), await harness.start('f')];
    for (const id of [locked, free]) await tasks.began(`${id}:1`);
    expect(await inPlace(harness, locked)).toBe(1);
    await harness.store.db.transaction(async (tx) => {
      await tx.rows(sql('spec_lock', 'SELECT FROM rhythm.executions WHERE id = $1 FOR UPDATE'), [locked]);
      tasks.fail(`${locked}:1`, 'first');
      tasks.fail(`${free}:1`, 'second');
      expect((await harness.ended(free, 10_000)).value).toBe('second');
    });
    expect((await harness.ended(locked)).value).toBe('first');
    expect(tasks.begun).toEqual([`${locked}:1`, `${free}:1`]);
    await nothingIsLeft(harness);
  });
});
