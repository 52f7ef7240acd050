// However steps in place end, a worker runs no more tasks at a time than configured, and gets every slot back.

import { describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import { pauseExecutions, requestCancel, resumeExecutions } from '../../libs/store/index.js';
import { HeldTasks, nothingIsLeft } from '../faults/steps.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

// How many attempts run, without those that were told to stop.
class Counted {
  now = 0;
  most = 0;

  wrap(task: (input: never, context: TaskContext) => unknown) {
    return async (input: never, context: TaskContext) => {
      let isCounted = true;
      const end = () => {
        if (isCounted) this.now--;
        isCounted = false;
      };
      this.most = Math.max(this.most, ++this.now);
      context.signal.addEventListener('abort', end);
      try {
        return await task(input, context);
      } finally {
        end();
      }
    };
  }
}

const FLOWS = {
  row: `for (let i = 0; i < 6; i++) await Task.run('work', i); return 'done';`,
  retried: `for (let i = 0; i < 3; i++) await Task.run('flaky', i); return 'done';`,
  failing: `for (let i = 0; i < 3; i++) { try { await Task.run('fails') } catch { await Task.run('work', i) } } return 'done';`,
  parallel: `await Promise.all([Task.run('work', 1), Task.run('work', 2), Task.run('flaky', 3), Task.run('work', 4)]); return 'done';`,
  race: `await Promise.race([Task.run('work', 1), Task.run('slow')]); return await Task.run('work', 2);`,
  left: `Task.run('slow'); await Task.run('work', 1); return 'done';`,
  cancels: `const slow = Task.run('slow'); await Task.run('work', 1); slow.cancel(); await Promise.allSettled([slow]); return 'done';`,
  reports: `for (let i = 0; i < 3; i++) await Task.run(i % 2 ? 'beats' : 'beat', i); return 'done';`,
  timed: `try { await Task.run('slow', 1, { timeout: 5 }) } catch { await Task.run('work', 1) } return 'done';`,
  text: `return await Task.run('text');`,
  long: `await Task.run('long'); return await Task.run('work', 1);`,
  nested: `await Workflow.run('row'); await Promise.all([Workflow.run('retried'), Task.run('work', 1)]); return 'done';`,
};

describe('the slots of a worker that runs steps in place', () => {
  const kit = useHarness();

  it.each([1, 2, 4])('are kept and all free again at a concurrency of %i', async (concurrency) => {
    const counted = new Counted();
    const held = new HeldTasks();
    const slow = (_: unknown, { signal }: TaskContext) =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, 30);
        signal.addEventListener('abort', () => {
          clearTimeout(timer);
          resolve(0);
        });
      });
    const harness = await kit.open({
      flows: FLOWS,
      tasks: {
        work: counted.wrap((n: number) => (n % 2 ? sleep(n % 3) : n)),
        flaky: counted.wrap((_, { attempt }) => {
          if (attempt === 1) throw new Error('again');
        }),
        fails: counted.wrap(() => {
          throw new Error('no');
        }),
        beat: counted.wrap(async (n, { heartbeat }) => heartbeat(n)),
        beats: counted.wrap(async (n, { heartbeat }) => void heartbeat(n)),
        text: counted.wrap(() => 'a NUL: \0'),
        long: counted.wrap(() => sleep(1_600)),
        slow: counted.wrap(slow),
        hold: counted.wrap(held.hold),
      },
      policies: { flaky: { maxAttempts: 2, delayMs: 1 } },
      engine: { concurrency },
    });
    await harness.engine();
    const ids: string[] = [];
    const names = Object.keys(FLOWS);
    for (let burst = 0; burst < 6; burst++) {
      const some = await Promise.all(names.filter((name) => name !== 'long' || burst === 0).map((name) => harness.start(name)));
      ids.push(...some);
      await requestCancel(harness.store.db, [some[burst], `${some[burst + 1]}:1`, `${some[burst + 2]}:2`]);
      await pauseExecutions(harness.store.db, [some[burst + 3], `${some[burst + 4]}:1`]);
      // With queued work and without.
      if (burst % 2) await waitFor('an empty queue', async () => (await harness.count('work_queue')) === 0);
      const paused = await harness.query<{ id: string }>(`SELECT id FROM rhythm.executions WHERE status = 'paused'`);
      await resumeExecutions(
        harness.store.db,
        paused.map(({ id }) => id),
      );
    }
    await waitFor('all to end', async () => (await harness.count('executions', 'finished_at IS NULL')) === 0, { timeoutMs: 60_000 });
    await nothingIsLeft(harness);
    expect(counted.most).toBe(concurrency);
    expect(counted.now).toBe(0);
    const last = await Promise.all(Array.from({ length: concurrency + 1 }, () => harness.start('hold')));
    await waitFor('all slots', () => held.begun.length === concurrency);
    for (const id of held.begun.slice()) held.end(id, 1);
    await waitFor('the last one', () => held.begun.length === concurrency + 1);
    held.end(held.begun[concurrency], 1);
    for (const id of last) expect((await harness.ended(id)).status).toBe('completed');
    expect(counted.most).toBe(concurrency);
    expect(ids.length).toBeGreaterThan(60);
  });
});
