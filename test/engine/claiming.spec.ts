// The claim loop takes work as soon as there is room; it polls only for work of which it got no hint.

import { describe, expect, it } from '@jest/globals';
import { insertExecutions, newId } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

// Longer than any spec may take: whatever waits for the poll fails.
const NEVER_MS = 600_000;

describe('the claim loop', () => {
  const kit = useHarness();

  it('goes on when the finished work that had stopped it is written', async () => {
    const harness = await kit.open({ tasks: { noop: () => null } });
    const tasks = Array.from(
      { length: 3_000 },
      () => ({ id: newId(), fresh: true, type: 'task', targetName: 'noop', queue: 'default' }) as const,
    );
    await insertExecutions(harness.store.db, tasks);
    // Far more room than is ever written at once, so that what waits to be written is what stops the loop.
    await harness.engine({ pollMs: NEVER_MS, concurrency: 5_000, claimBatch: 20 });
    await waitFor('all tasks to end', async () => (await harness.count('executions', 'finished_at IS NULL')) === 0, { timeoutMs: 20_000 });
    expect(await harness.count('executions', `status = 'completed'`)).toBe(tasks.length);
  });

  it('finds what was committed late, before the place it has come to, without waiting for the poll', async () => {
    const ran: string[] = [];
    const harness = await kit.open({ tasks: { noop: (name: string) => void ran.push(name) } });
    const task = (name: string) =>
      ({ id: newId(), fresh: true, type: 'task', targetName: 'noop', queue: 'default', input: `"${name}"` }) as const;
    await harness.store.db.transaction(async (late) => {
      await insertExecutions(late, [task('late')]);
      await insertExecutions(
        harness.store.db,
        Array.from({ length: 2_000 }, () => task('punctual')),
      );
      await harness.engine({ pollMs: NEVER_MS, concurrency: 10, claimBatch: 5 });
      await waitFor('some to have run', () => ran.length > 100);
    });
    expect(ran.length).toBeLessThan(2_000);
    await waitFor('all to have run', () => ran.length === 2_001, { timeoutMs: 20_000 });
    expect(ran.filter((name) => name === 'late')).toHaveLength(1);
  });

  it('runs what was started together in the order it was given', async () => {
    const ran: number[] = [];
    const harness = await kit.open({ tasks: { note: (n: number) => void ran.push(n) } });
    const tasks = Array.from(
      { length: 500 },
      (_, n) => ({ id: newId(), fresh: true, type: 'task', targetName: 'note', queue: 'default', input: String(n) }) as const,
    );
    await insertExecutions(harness.store.db, tasks);
    await harness.engine({ concurrency: 1 });
    await waitFor('all tasks to run', async () => ran.length === tasks.length, { timeoutMs: 20_000 });
    expect(ran).toEqual(tasks.map((_, n) => n));
  });
});
