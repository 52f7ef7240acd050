// Resume groups under races: many workers count one group down while its run is being regrouped.

import { describe, expect, it } from '@jest/globals';
import { bucketOf, commitWork, insertExecutions, turnCommit } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';

describe('resume groups under races', () => {
  const kit = useHarness();

  // The run is woken again and again by single tasks while the members of its groups end on other workers.
  it('lose no member, whatever else wakes the run meanwhile', async () => {
    const harness = await kit.open({
      flows: {
        busy: `
          let ticks = 0;
          async function tick() { for (let n = 0; n < 15; n++) { await Task.run('one'); ticks++; } }
          let background = tick();
          let sums = [];
          for (let round = 0; round < 4; round++) {
            let all = await Promise.all(Array.from({ length: 12 }, () => Task.run('one')));
            let settled = await Promise.allSettled([Task.run('one'), Task.run('odd'), Task.run('one')]);
            sums.push(all.length + settled.filter((s) => s.status === 'fulfilled').length);
          }
          await background;
          return { sums, ticks };
        `,
      },
      tasks: {
        one: () => new Promise((resolve) => setTimeout(() => resolve(1), Math.random() * 6)),
        odd: () => {
          throw new Error('odd');
        },
      },
    });
    await harness.engine({ claimBatch: 3 });
    await harness.engine({ claimBatch: 5, cachedRuns: 0 });
    await harness.engine({ claimBatch: 2 });
    const ids = await Promise.all(Array.from({ length: 12 }, () => harness.start('busy')));
    for (const id of ids) expect((await harness.ended(id, 45_000)).value).toEqual({ sums: [14, 14, 14, 14], ticks: 15 });
    expect(await harness.count('resume_groups')).toBe(0);
    expect(await harness.count('inbox')).toBe(0);
  }, 90_000);

  it('wake a run whose member ends in the very commit that replaces its groups', async () => {
    const harness = await kit.open({});
    const { db } = harness.store;
    const [id, bucket, workerId, claims] = ['run', bucketOf('run'), 'worker', []];
    const task = { type: 'task' as const, targetName: 'one', queue: 'default', parentId: id };
    await insertExecutions(db, [{ id, type: 'workflow', targetName: 'f', queue: 'default', version: 'v' }]);
    const [started] = await harness.query<{ fence: number }>('SELECT fence FROM rhythm.executions');
    const turn = (fence: number) =>
      turnCommit({
        ...{ id, bucket, fence, status: 'suspended', startedAt: Date.now() },
        state: { action: 'store', snapshot: '{}', calls: 2 },
        groups: [{ until: 'all', members: [1, 2] }],
      });
    const children = [1, 2].map((call) => ({ ...task, id: `${id}:${call}`, parentCall: call }));
    const { fence } = await commitWork(db, { workerId, claims, tasks: [], turns: [{ ...turn(started.fence), children }] });
    await harness.query('DELETE FROM rhythm.work_queue');
    const end = { id: `${id}:1`, bucket, fence, status: 'completed' as const, attempts: 0, startedAt: Date.now() };
    const done = { ...end, output: '1', parent: { id, bucket, call: 1 } };
    await commitWork(db, { workerId, claims, tasks: [done], turns: [{ ...turn(fence), remaining: 2 }] });
    expect(await harness.count('work_queue', `execution_id = 'run'`)).toBe(1);
    expect(await harness.query('SELECT remaining FROM rhythm.resume_groups')).toEqual([{ remaining: 2 }]);
  });
});
