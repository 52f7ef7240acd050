// A look at a task's orders that fails, or waits behind a suspicion, loses neither the order nor the task.

import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { requestCancel } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { watchLinks } from './watched-links.js';

describe('a cancel of a task', () => {
  const kit = useHarness();

  // The first look at events is cancelled by the server, once.
  function failingLook(harness: Harness) {
    const state = { failed: 0 };
    const store = watchLinks(harness.store, async ({ name }, _values, send) => {
      if (!name.includes('load_events') || state.failed > 0) return send();
      state.failed++;
      throw Object.assign(new DatabaseError('canceling statement due to statement timeout', 0, 'error'), { code: '57014' });
    });
    return { store, state };
  }

  it('that runs survives a look that the server cancels', async () => {
    kit.expectProblems();
    let runs = 0;
    const harness = await kit.open({
      tasks: {
        slow: (_: never, { signal }) => {
          runs++;
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
      },
    });
    const { store, state } = failingLook(harness);
    await harness.engine({}, store);
    const id = await harness.start('slow');
    await waitFor('its run', () => runs === 1);
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    await waitFor('the failed look', () => state.failed === 1);
    const end = await harness.ended(id, 20_000);
    expect(end.status).toBe('cancelled');
  }, 40_000);

  it('that waits for its next attempt survives a look that the server cancels', async () => {
    kit.expectProblems();
    let runs = 0;
    const harness = await kit.open({
      tasks: {
        flaky: () => {
          if (++runs === 1) throw new Error('no');
          return 'ran';
        },
      },
      policies: { flaky: { maxAttempts: 3, delayMs: 3_600_000, maxDelayMs: 3_600_000 } },
    });
    const { store, state } = failingLook(harness);
    await harness.engine({}, store);
    const id = await harness.start('flaky');
    await waitFor('its retry', async () => (await harness.count('scheduled_queue')) === 1);
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    await waitFor('the failed look', () => state.failed === 1);
    const end = await harness.ended(id, 20_000);
    expect(end.status).toBe('cancelled');
  }, 40_000);

  it('that was handed over survives a look that the server cancels', async () => {
    kit.expectProblems();
    const harness = await kit.open({
      tasks: {
        out: async (_: never, c) => {
          await c.completeLater();
          return 1;
        },
      },
    });
    const { store, state } = failingLook(harness);
    await harness.engine({}, store);
    const id = await harness.start('out');
    await waitFor('the hand-over', async () => (await harness.status(id)) === 'suspended');
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    await waitFor('the failed look', () => state.failed === 1);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled' });
  }, 40_000);

  it('that has crashed its workers keeps it from being run, though another such is held', async () => {
    kit.expectProblems();
    const ran: string[] = [];
    const harness = await kit.open({
      tasks: {
        bad: (_: never, { executionId }) => ran.push(executionId),
      },
    });
    const [a, b] = [await harness.start('bad'), await harness.start('bad')];
    await harness.query('UPDATE rhythm.executions SET crashes = 2');
    await requestCancel(harness.store.db, [b]);
    await harness.engine();
    await harness.ended(a);
    const end = await harness.ended(b);
    expect(end.status).toBe('cancelled');
    expect(ran).toEqual([a]);
  }, 40_000);
});
