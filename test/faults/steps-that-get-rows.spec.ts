// Steps in place that are taken out of the row of their run while they end, or that get a row just then.

import { describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('steps that get rows', () => {
  const kit = useHarness();

  it('give their slots back when they get a row while they end', async () => {
    const harness = await kit.open({
      flows: { f: `for (let i = 0; i < 12; i++) await Task.run('report', i); return 'done';` },
      tasks: {
        report: async (_input, context) => {
          // Not awaited: the row is being written when the task returns.
          void context.heartbeat(1);
          await sleep(1);
        },
      },
      engine: { concurrency: 4 },
    });
    await harness.engine();
    expect((await harness.ended(await harness.start('f'))).value).toBe('done');
    expect(harness.events.filter(({ type }) => type === 'lost')).toEqual([]);
  });
});
