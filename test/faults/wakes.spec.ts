// Wakes at awkward moments: of a run that must wait, that is paused, that another worker holds, or that has a group.

import { describe, expect, it } from '@jest/globals';
import {
  bucketOf,
  claimWork,
  commitWork,
  createCompletionToken,
  findToken,
  giveBackItems,
  newId,
  PoolRunner,
  pauseExecutions,
  putOffItems,
  requestCancel,
  resumeExecutions,
  sendSignals,
  turnCommit,
} from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';

const turnOf = (id: string, fence: number) =>
  turnCommit({ id, bucket: bucketOf(id), fence, status: 'suspended', startedAt: Date.now(), state: { action: 'leave' } });

describe('wakes', () => {
  const kit = useHarness();
  const claim = async (db: Parameters<typeof claimWork>[0], worker = 'spec') => claimWork(db, worker, newId(), ['default'], 10);

  it('do not start a workflow before its time: neither a signal nor a resume does', async () => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` } });
    await harness.engine();
    const id = await harness.start('f', undefined, { options: { delayMs: 1_500 } });
    const created = performance.now();
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '1' }]);
    await pauseExecutions(harness.store.db, [id]);
    await resumeExecutions(harness.store.db, [id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 1 });
    expect(performance.now() - created).toBeGreaterThan(1_300);
  });

  it('move a run with an open group once each, not endlessly', async () => {
    const harness = await kit.open({
      flows: {
        f: `let all = Promise.all([Task.run('slow'), Task.run('slow')]); await Signal.when('go'); await Signal.when('go'); await all; return 1;`,
      },
      tasks: { slow: () => new Promise((resolve) => setTimeout(resolve, 1_000)) },
    });
    await harness.engine({ pollMs: 10 });
    const id = await harness.start('f');
    await waitFor('the run to wait', async () => (await harness.status(id)) === 'suspended');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '1' }]);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '1' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed' });
    expect(harness.events.filter((event) => event.type === 'resumed' && event.executionId === id).length).toBeLessThan(12);
  });

  it('survive the worker that gave them back: a cancel of a paused run, an event behind another worker’s turn', async () => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` } });
    const { db } = harness.store;
    const paused = await harness.start('f');
    await db.rows({ name: 'spec', text: 'DELETE FROM rhythm.work_queue' });
    await pauseExecutions(db, [paused]);
    await requestCancel(db, [paused]);
    const first = await claim(db);
    expect(first.items).toHaveLength(1);
    await giveBackItems(db, 'spec', first.items, [first.claimId]);
    expect(await harness.count('work_queue')).toBe(1);
    const second = await claim(db);
    await putOffItems(db, 'spec', second.items, [second.claimId], 10);
    expect(await harness.count('scheduled_queue', `kind = 'wake'`)).toBe(1);

    // The give-back begins before the other's commit is visible and must wait for it.
    const moved = await harness.start('f');
    const mine = await claim(db);
    const other = new PoolRunner({ url: kit.url, schema: kit.schema }, { max: 1 });
    let giving: Promise<unknown> = Promise.resolve();
    await other.transaction(async (tx) => {
      await commitWork(tx, { workerId: 'other', tasks: [], turns: [turnOf(moved, mine.items[0].fence)], claims: [] });
      giving = giveBackItems(db, 'spec', mine.items, [mine.claimId]);
      await waitFor('the give-back to wait', async () => {
        const rows = await harness.query<{ n: number }>(`SELECT 1 AS n FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
        return rows.length > 0;
      });
    });
    await giving;
    await other.close();
    expect(await harness.count('work_queue', `execution_id = '${moved}'`)).toBe(1);
  });

  it.each(['given back', 'put off'])('of a run that has ended meanwhile are %s too, so that their events are dropped', async (how) => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` } });
    const { db } = harness.store;
    const id = await harness.start('f');
    const mine = await claim(db);
    const other = new PoolRunner({ url: kit.url, schema: kit.schema }, { max: 1 });
    let late = mine;
    await other.transaction(async (tx) => {
      const end = { ...turnOf(id, mine.items[0].fence), status: 'completed' as const, state: { action: 'drop' as const } };
      await commitWork(tx, { workerId: 'spec', tasks: [], turns: [end], claims: [mine.claimId] });
      // The end does not see this signal, and the claim of its wake does not see the end.
      await sendSignals(db, [{ executionId: id, name: 'go' }]);
      late = await claim(db);
      expect(late.items).toHaveLength(1);
    });
    await other.close();
    if (how === 'given back') await giveBackItems(db, 'spec', late.items, [late.claimId]);
    else await putOffItems(db, 'spec', late.items, [late.claimId], 10);
    expect(await harness.count('signals')).toBe(1);
    await harness.engine();
    await waitFor('the late signal to be dropped', async () => (await harness.count('signals')) === 0);
  });

  it('of a task that only waits change neither its time nor its token when they are given back', async () => {
    const harness = await kit.open({ tasks: { pay: () => 1 } });
    const { db } = harness.store;
    const retried = await harness.start('pay');
    const handed = await harness.start('pay');
    const { items, claimId } = await claim(db);
    const token = (await createCompletionToken(db, items[1])) as string;
    const base = { attempts: 0, startedAt: Date.now() };
    const { fence } = await commitWork(db, {
      workerId: 'spec',
      tasks: [
        { ...base, id: retried, bucket: bucketOf(retried), fence: items[0].fence, status: 'pending', retryAfterMs: 3_600_000 },
        { ...base, id: handed, bucket: bucketOf(handed), fence: items[1].fence, status: 'suspended' },
      ],
      turns: [],
      claims: [claimId],
    });
    for (const executionId of [retried, handed]) {
      await harness.query(
        `INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id) VALUES ('default', 0, nextval('rhythm.queue_seq'), $2, $1)`,
        [executionId, bucketOf(executionId)],
      );
    }
    const looked = await claim(db);
    expect(looked.items).toHaveLength(2);
    await giveBackItems(db, 'spec', looked.items, [looked.claimId]);
    expect(await harness.count('work_queue')).toBe(0);
    expect(await harness.count('scheduled_queue', `execution_id = '${retried}' AND fence = ${fence}`)).toBe(1);
    expect(await findToken(db, token)).toMatchObject({ valid: true });
  });
});
