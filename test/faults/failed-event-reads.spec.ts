// The server cancels the statement that reads the events of a task: neither its cancel request nor the task is lost.

import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import type { TaskContext } from '../../libs/engine/index.js';
import { requestCancel } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { watchLinks } from './watched-links.js';

describe('a cancel of a task', () => {
  const kit = useHarness();

  // Starts the task on an engine whose first read of events fails, and cancels it when it is as the test wants it.
  async function statusAfterCancel(harness: Harness, name: string, isReady: (id: string) => Promise<boolean>) {
    kit.expectProblems();
    let failures = 0;
    const store = watchLinks(harness.store, async (statement, _values, send) => {
      if (statement.name !== 'rhythm_load_events' || failures > 0) return send();
      failures++;
      throw Object.assign(new DatabaseError('canceling statement due to statement timeout', 0, 'error'), { code: '57014' });
    });
    await harness.engine({}, store);
    const id = await harness.start(name);
    await waitFor('the task to be ready', () => isReady(id));
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    await waitFor('the failed read', () => failures === 1);
    return (await harness.ended(id, 20_000)).status;
  }

  it('that runs is carried out', async () => {
    let runs = 0;
    const slow = (_: unknown, { signal }: TaskContext) => {
      runs++;
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const harness = await kit.open({ tasks: { slow } });
    expect(await statusAfterCancel(harness, 'slow', async () => runs === 1)).toBe('cancelled');
  }, 40_000);

  it('that waits for its next attempt is carried out', async () => {
    let runs = 0;
    const flaky = () => {
      if (++runs === 1) throw new Error('no');
      return 'ran';
    };
    const harness = await kit.open({
      tasks: { flaky },
      policies: { flaky: { maxAttempts: 3, delayMs: 3_600_000, maxDelayMs: 3_600_000 } },
    });
    expect(await statusAfterCancel(harness, 'flaky', async () => (await harness.count('scheduled_queue')) === 1)).toBe('cancelled');
  }, 40_000);

  it('that was handed over is carried out', async () => {
    const out = async (_: unknown, context: TaskContext) => void (await context.completeLater());
    const harness = await kit.open({ tasks: { out } });
    expect(await statusAfterCancel(harness, 'out', async (id) => (await harness.status(id)) === 'suspended')).toBe('cancelled');
  }, 40_000);

  it('that has crashed its workers keeps it from being run while another such task is held', async () => {
    kit.expectProblems();
    const ran: string[] = [];
    const harness = await kit.open({ tasks: { bad: (_: unknown, { executionId }: TaskContext) => ran.push(executionId) } });
    const [a, b] = [await harness.start('bad'), await harness.start('bad')];
    await harness.query('UPDATE rhythm.executions SET crashes = 2');
    await requestCancel(harness.store.db, [b]);
    await harness.engine();
    await harness.ended(a);
    expect((await harness.ended(b)).status).toBe('cancelled');
    expect(ran).toEqual([a]);
  }, 40_000);
});
