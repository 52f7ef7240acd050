// What an endless loop leaves behind: the steps that are kept, and nothing of those that are not.

import { describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';

describe('an endless loop', () => {
  const kit = useHarness();

  it('keeps nothing of the child workflows it has forgotten, though they failed, logged and had children', async () => {
    const harness = await kit.open({
      flows: {
        loop: `for (let n = 0; n < 12; n++) { try { await Workflow.run('child'); } catch (e) {} } await Signal.when('go');`,
        child: `console.log('here'); await Timer.sleep(1); try { await Task.run('bad'); } catch (e) {} Timer.sleep('1h').then(() => 1); throw new Error('no');`,
      },
      tasks: {
        bad: () => {
          throw new Error('bad');
        },
      },
    });
    await harness.engine({ maxSteps: 2 });
    const id = await harness.start('loop');
    await waitFor('the loop to wait', async () => (await harness.count('executions', `id = '${id}:12' AND status = 'failed'`)) === 1);
    await waitFor('the last turn', async () => (await harness.count('work_queue')) + (await harness.count('claims')) === 0);
    for (const table of ['history', 'marked_executions', 'workflow_execution_context', 'inbox', 'scheduled_queue']) {
      const orphans = await harness.count(table, `NOT EXISTS (SELECT 1 FROM rhythm.executions e WHERE e.id = execution_id)`);
      expect({ table, orphans }).toEqual({ table, orphans: 0 });
    }
    expect(await harness.count('executions')).toBeLessThan(12);
  }, 30_000);
});
