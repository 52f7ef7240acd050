// The result of a task does not stay in memory for the length of a turn that goes on with it.

import { describe, expect, it } from '@jest/globals';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const LONG = 'let n = 0; for (let i = 0; i < 2_000_000; i++) n += i;';

describe('a task that completed before a long turn of its workflow', () => {
  const kit = useHarness();

  it.each([
    ['whose result the turn goes on with', `await Task.run('pay'); ${LONG} return n > 0;`],
    ['while the turn was under way', `const paid = Task.run('pay'); await Timer.sleep(1); ${LONG} await paid; return n > 0;`],
  ])(
    'is not run again by another worker, %s',
    async (_, source) => {
      let calls = 0;
      let release = () => undefined as void;
      const isSlow = source.includes('const paid');
      const harness = await kit.open({
        flows: { order: source },
        tasks: {
          pay: async () => {
            calls++;
            if (isSlow)
              await new Promise<void>((resolve) => {
                release = resolve;
              });
            return 'paid';
          },
        },
      });
      const first = await harness.engine({ shutdownGraceMs: 2_000 });
      const id = await harness.start('order');
      await waitFor('the task to be called', () => calls === 1);
      if (isSlow) {
        await waitFor('the long turn to begin', async () => (await harness.count('scheduled_queue')) === 0);
        release();
      }
      await waitFor('the result to be stored', async () => {
        const stored = await harness.query(
          `SELECT 1 FROM rhythm.inbox WHERE kind = 'completed' UNION ALL SELECT 1 FROM rhythm.executions WHERE id = $1 AND status = 'completed'`,
          [id],
        );
        return stored.length > 0;
      });
      await first.stop();
      await harness.engine();
      expect((await harness.ended(id, 60_000)).status).toBe('completed');
      expect(calls).toBe(1);
    },
    90_000,
  );
});
