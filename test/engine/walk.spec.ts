// The walk of an execution through the engine: start → tasks → sleep → signal → completed, with a restart in between.

import { describe, expect, it } from '@jest/globals';
import { sendSignals } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

describe('the engine', () => {
  const { open } = useHarness();

  it('runs a task and stores its result', async () => {
    const harness = await open({ tasks: { double: (n: number) => n * 2 } });
    await harness.engine();
    const id = await harness.start('double', 21);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 42 });
    await waitFor('the claim to go', async () => (await harness.count('claims')) === 0);
    expect(await harness.count('work_queue')).toBe(0);
  });

  it('runs a workflow over tasks, a timer and a signal, while workers come and go', async () => {
    const harness = await open({
      flows: {
        order: `
          let label = await Task.run('label', { order: Inputs.order });
          let [a, b] = await Promise.all([Task.run('add', 1), Task.run('add', 2)]);
          await Timer.sleep(50);
          let approval = await Signal.when('approved');
          return { label, sum: a + b, by: approval.by };
        `,
      },
      tasks: { label: (input: { order: string }) => `label of ${input.order}`, add: (n: number) => n + 1 },
    });
    const first = await harness.engine();
    const id = await harness.start('order', { order: 'o-1' });
    await waitFor(
      'the run to wait for the signal',
      async () =>
        (await harness.status(id)) === 'suspended' &&
        (await harness.count('scheduled_queue')) === 0 &&
        (await harness.count('inbox')) === 0 &&
        (await harness.count('work_queue')) === 0,
    );
    await first.stop();
    await sendSignals(harness.store.db, [{ executionId: id, name: 'approved', payload: '{"by":"ann"}' }]);
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: { label: 'label of o-1', sum: 5, by: 'ann' } });
    // A wake that the first worker gave back may still be in the queue: its claim finds the run ended.
    for (const table of ['work_queue', 'inbox', 'signals', 'workflow_execution_context', 'scheduled_queue', 'resume_groups']) {
      await waitFor(`nothing to be left in ${table}`, async () => (await harness.count(table)) === 0);
    }
  });
});
