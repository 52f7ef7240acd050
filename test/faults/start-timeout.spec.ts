// A start timeout races with a claim: a task that runs is never reported as one that did not start.

import { describe, expect, it } from '@jest/globals';
import { claimWork, commitWork, markStarted } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { watchLinks } from './watched-links.js';

const gate = () => {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, passed };
};

describe('a start timeout', () => {
  const kit = useHarness();

  it('does not end a task that was claimed after the timer had read it as waiting', async () => {
    const [read, running, judged] = [gate(), gate(), gate()];
    const harness = await kit.open({
      tasks: {
        charge: async () => {
          running.open();
          await judged.passed;
          return 'charged';
        },
      },
    });
    // The worker claims only when the timer has read the bound, and the timer acts only when the task runs.
    let overdue = false;
    const store = watchLinks(harness.store, async ({ name }, _values, send) => {
      if (name === 'rhythm_claim_work') await read.passed;
      const rows = await send();
      if (overdue && name === 'rhythm_move_due') judged.open();
      if (name === 'rhythm_read_overdue' && rows.length > 0) {
        overdue = true;
        read.open();
        await running.passed;
      }
      return rows;
    });
    const id = await harness.start('charge', undefined, { options: { startTimeoutMs: 20 } });
    await harness.engine({}, store);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'charged' });
    expect(await harness.count('scheduled_queue')).toBe(0);
  });

  it('that comes first keeps a claimed task from being run', async () => {
    const harness = await kit.open({});
    await harness.start('charge', undefined, { options: { startTimeoutMs: 20 } });
    const { items } = await claimWork(harness.store.db, 'worker', 'claim', ['default'], 1);
    const [{ id, bucket, fence }] = items;
    const task = { id, bucket, fence, attempts: 0, status: 'failed' as const, startedAt: Date.now() };
    const { tasks } = await commitWork(harness.store.db, { workerId: 'timer', tasks: [task], turns: [], claims: [] });
    expect(tasks).toEqual([true]);
    expect(await markStarted(harness.store.db, items[0])).toBe(false);
  });
});
