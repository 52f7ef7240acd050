// Races inside one process: claims, wakes, lost replies, bad values, open transactions.

import { describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import { insertExecutions, newId, PoolRunner, requestCancel, sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';
import { losingReplies } from './watched-links.js';

describe('races', () => {
  const kit = useHarness();

  it('gives each execution to one of four workers that race for them', async () => {
    const runs = new Map<string, number>();
    const harness = await kit.open({
      tasks: { count: (_: unknown, { executionId }: TaskContext) => void runs.set(executionId, (runs.get(executionId) ?? 0) + 1) },
    });
    const ids = await Promise.all(Array.from({ length: 400 }, () => harness.start('count')));
    const engines = await Promise.all([1, 2, 3, 4].map(() => harness.engine({ claimBatch: 7 })));
    await waitFor('all to complete', async () => (await harness.count('executions', `status = 'completed'`)) === 400);
    expect([...runs.values()].every((n) => n === 1)).toBe(true);
    expect(runs.size).toBe(ids.length);
    const claimed = new Set(harness.events.flatMap((event) => (event.type === 'claimed' ? [event.workerId] : [])));
    expect(claimed.size).toBeGreaterThan(1);
    expect(engines).toHaveLength(4);
  });

  it('loses no wake that arrives at any point of a turn', async () => {
    const harness = await kit.open({
      flows: {
        collect: `let sum = 0; for (let n = 0; n < 20; n++) { sum += await Signal.when('n'); if (n % 5 === 0) await Task.run('pause'); } return sum;`,
      },
      tasks: { pause: () => undefined },
    });
    // One keeps its runs in memory and one never does, so that turns are run twice and race for the commit.
    await harness.engine();
    await harness.engine({ cachedRuns: 0 });
    await harness.engine({ claimBatch: 1 });
    const ids = await Promise.all(Array.from({ length: 25 }, () => harness.start('collect')));
    await Promise.all(
      ids.map(async (executionId) => {
        await Promise.all(
          Array.from({ length: 20 }, (_, n) => sendSignals(harness.store.db, [{ executionId, name: 'n', payload: String(n) }])),
        );
      }),
    );
    for (const id of ids) expect((await harness.ended(id, 30_000)).value).toBe(190);
    expect(harness.events.some((event) => event.type === 'lost')).toBe(true);
  }, 60_000);

  it('gives back a claim whose reply was lost, and writes a commit again whose reply was lost', async () => {
    const harness = await kit.open({ flows: { f: `return (await Task.run('one')) + (await Task.run('one'));` }, tasks: { one: () => 1 } });
    let lostClaims = 0;
    let lostCommits = 0;
    const store = losingReplies(harness.store, ({ name }) => {
      if (name === 'rhythm_claim_work' && lostClaims < 3) return ++lostClaims > 0;
      if (name.startsWith('rhythm_commit_') && lostCommits < 5) return ++lostCommits > 0;
      return false;
    });
    kit.expectProblems();
    const ids = await Promise.all(Array.from({ length: 10 }, () => harness.start('f')));
    await harness.engine({}, store);
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 2, crashes: 0 });
    expect([lostClaims, lostCommits]).toEqual([3, 5]);
    await waitFor('no claim to be left', async () => (await harness.count('claims')) === 0);
  });

  it('fails the one row with a bad value, and not its group', async () => {
    const harness = await kit.open({ tasks: { echo: (value: unknown) => value } });
    await harness.query(`ALTER TABLE rhythm.executions ADD CONSTRAINT spec_bad CHECK (output::text IS DISTINCT FROM '"bad"')`);
    try {
      kit.expectProblems();
      const ids = await Promise.all(['good', 'bad', 'fine', 'well'].map((value) => harness.start('echo', value)));
      await harness.engine();
      const ends = await Promise.all(ids.map((id) => harness.ended(id)));
      expect(ends.map((end) => end.status)).toEqual(['completed', 'failed', 'completed', 'completed']);
      expect(ends[1].error).toMatchObject({ message: expect.stringContaining('spec_bad') });
    } finally {
      await harness.query(`ALTER TABLE rhythm.executions DROP CONSTRAINT spec_bad`);
    }
  });

  it('is not held up by an open user transaction that started, signalled and cancelled', async () => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` }, tasks: { one: () => 1 } });
    await harness.engine();
    const pool = new PoolRunner({ url: kit.url, schema: kit.schema }, { max: 1 });
    const [waiting, other, fresh] = [await harness.start('f'), await harness.start('f'), newId()];
    await waitFor('the runs to wait', async () => (await harness.count('executions', `status = 'suspended'`)) === 2);
    await pool.transaction(async (tx) => {
      await insertExecutions(tx, [{ id: fresh, type: 'task', targetName: 'one', queue: 'default' }]);
      await sendSignals(tx, [{ executionId: waiting, name: 'go', payload: '1' }]);
      await requestCancel(tx, [other]);
      const ids = await Promise.all(Array.from({ length: 50 }, () => harness.start('one')));
      for (const id of ids) expect((await harness.ended(id, 5_000)).status).toBe('completed');
      await sendSignals(harness.store.db, [{ executionId: other, name: 'go', payload: '2' }]);
      expect((await harness.ended(other, 5_000)).value).toBe(2);
      expect(await harness.status(fresh)).toBeUndefined();
    });
    await pool.close();
    expect((await harness.ended(fresh)).value).toBe(1);
    expect((await harness.ended(waiting)).value).toBe(1);
  });

  it('hands work back at once when it shuts down', async () => {
    let holding = true;
    const harness = await kit.open({
      tasks: {
        hold: (_: unknown, { signal }: TaskContext) =>
          holding ? new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))) : 'done',
      },
    });
    const first = await harness.engine({ shutdownGraceMs: 50, heartbeatMs: 5_000, deadAfterMs: 60_000 });
    const id = await harness.start('hold');
    await waitFor('it to run', async () => (await harness.status(id)) === 'running');
    holding = false;
    await first.stop();
    expect(await harness.count('claims')).toBe(0);
    await harness.engine();
    expect(await harness.ended(id, 2_000)).toMatchObject({ status: 'completed', value: 'done', attempts: 0, crashes: 0 });
  });
});
