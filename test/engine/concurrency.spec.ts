// A worker never runs more tasks at a time than configured, however it got them.

import { describe, expect, it } from '@jest/globals';
import { insertExecutions, newId } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const CONCURRENCY = 150;

describe('concurrency', () => {
  const kit = useHarness();

  it('is kept when tasks are claimed from the queue and in the commits that make them at the same time', async () => {
    let now = 0;
    let most = 0;
    const task = async () => {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      now--;
    };
    const harness = await kit.open({ flows: { many: `for (let i = 0; i < 6; i++) await Task.run('task'); return 1;` }, tasks: { task } });
    const [{ version }] = await harness.query<{ version: string }>('SELECT version FROM rhythm.executions WHERE id = $1', [
      await harness.start('many'),
    ]);
    await harness.engine({ concurrency: CONCURRENCY, claimBatch: 200 });
    const burst = () => [
      ...Array.from(
        { length: 140 },
        () => ({ id: newId(), fresh: true, type: 'workflow', targetName: 'many', version, queue: 'default' }) as const,
      ),
      ...Array.from({ length: 20 }, () => ({ id: newId(), fresh: true, type: 'task', targetName: 'task', queue: 'default' }) as const),
    ];
    for (let bursts = 0; bursts < 12; bursts++) {
      await insertExecutions(harness.store.db, burst());
      harness.store.hints.hint('work', 'default');
    }
    await waitFor('all to end', async () => (await harness.count('executions', 'finished_at IS NULL')) === 0, { timeoutMs: 40_000 });
    expect(most).toBeLessThanOrEqual(CONCURRENCY);
    expect(most).toBeGreaterThan(CONCURRENCY / 2);
  });
});
