// The engine draws every id, fence and secret from its `Runtime`, so that a seeded simulation can drive it.

import { describe, expect, it } from '@jest/globals';
import { REAL_RUNTIME, type Runtime, type TaskContext } from '../../libs/engine/index.js';
import { requestCancel } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

/** A runtime whose ids, fences and secrets are counted. */
function counted(): Runtime & { fences: ReadonlySet<number> } {
  let count = 0;
  const fences = new Set<number>();
  return {
    ...REAL_RUNTIME,
    fences,
    newId: () => `id-${String(++count).padStart(12, '0')}`,
    newFence: () => {
      fences.add(++count);
      return count;
    },
    newSecret: () => `secret-${++count}`,
  };
}

describe('an engine with a runtime of its own', () => {
  const { open } = useHarness();

  it('takes every fence, claim id and completion token from it', async () => {
    const runtime = counted();
    const tokens: string[] = [];
    let failures = 0;
    const harness = await open({
      runtime,
      flows: {
        f: `
          const all = await Promise.all([Task.run('one'), Task.run('flaky'), Task.run('unknown', 1, { queue: 'other' })]);
          await Timer.sleep(1);
          return all;
        `,
      },
      tasks: {
        one: () => 1,
        flaky: () => {
          if (++failures === 1) throw new Error('first');
          return 2;
        },
        handed: async (_: unknown, context: TaskContext) => void tokens.push(await context.completeLater()),
        hang: () => new Promise(() => undefined),
      },
      policies: { flaky: { maxAttempts: 2 } },
      engine: { queues: ['default', 'other'], shutdownGraceMs: 0 },
    });
    const first = await harness.engine();
    const ids = [await harness.start('f'), await harness.start('handed'), await harness.start('hang')];
    const limited = await harness.start('hang', undefined, { options: { totalTimeoutMs: 20 } });
    const cancelled = await harness.start('hang');
    await requestCancel(harness.store.db, [cancelled]);
    for (const id of [limited, cancelled]) await harness.ended(id);
    await waitFor('the hand-over', () => harness.count('executions', `target_name = 'handed' AND status = 'suspended'`));
    await waitFor('the unknown task to be left alone', () => harness.count('work_queue', `lane = 't:unknown'`));
    await waitFor('the retry', () => harness.count('executions', `target_name = 'flaky' AND status = 'completed'`));
    // Gives back what still runs.
    await first.stop();

    const rows = await harness.query<{ id: string; fence: number }>('SELECT id, fence FROM rhythm.executions');
    expect(rows.length).toBe(ids.length + 2 + 3);
    expect(rows.filter(({ fence }) => !runtime.fences.has(fence))).toEqual([]);
    expect(tokens).toEqual([expect.stringMatching(/\.secret-\d+$/)]);
    const started = harness.events.find((event) => event.type === 'worker-started');
    expect(started).toMatchObject({ workerId: expect.stringMatching(/-0{3,}\d+$/) });
  });
});
