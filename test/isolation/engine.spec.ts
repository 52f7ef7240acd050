// Isolated flows on an engine: the same results as in the worker, and crashes that only their own run notices.

import { describe, expect, it } from '@jest/globals';
import { Harness } from '../engine/harness.js';
import { useTestDatabase } from '../support/index.js';

const database = useTestDatabase();

describe('an isolated flow', () => {
  it('runs to its end, with steps, children, timers and signals', async () => {
    const engine = await Harness.open({
      ...database,
      url: database.url,
      schema: database.schema,
      flows: {
        tenant: `let sum = 0; for (let i = 1; i <= 5; i++) sum += await Task.run('double', i);
          await sleep(0.01);
          const child = await Workflow.run('child', sum);
          const all = await Promise.all([1, 2, 3].map((n) => Task.run('double', n)));
          try { await Task.run('fail') } catch (error) { return { sum, child, all, error: error.message } }`,
        child: `return Inputs + 1`,
      },
      isolate: ['tenant', 'child'],
      tasks: {
        double: (n: number) => n * 2,
        fail: () => {
          throw new Error('no');
        },
      },
    });
    await engine.engine();
    const id = await engine.start('tenant');
    expect(await engine.ended(id)).toMatchObject({ status: 'completed', value: { sum: 30, child: 31, all: [2, 4, 6], error: 'no' } });
    expect(engine.problems()).toEqual([]);
    await engine.close();
  });
});
