// Code of the app that misbehaves: it may fail its own task, never the process.

import { describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';

describe('hostile code', () => {
  const kit = useHarness();

  it('in a retry filter or in what a task throws fails only that task', async () => {
    const harness = await kit.open({
      tasks: {
        filtered: () => {
          throw new Error('declined');
        },
        bare: () => {
          throw Object.create(null);
        },
        trapped: () => {
          throw Object.defineProperty({}, 'name', {
            get() {
              throw new Error('a getter');
            },
          });
        },
        good: () => 'good',
      },
      policies: {
        filtered: {
          maxAttempts: 2,
          retryOn: (error) => (error as { response: { status: number } }).response.status >= 500,
        },
      },
    });
    await harness.engine();
    const ids = await Promise.all(['filtered', 'bare', 'trapped', 'good'].map((name) => harness.start(name)));
    const ends = await Promise.all(ids.map((id) => harness.ended(id)));
    expect(ends.map((end) => end.status)).toEqual(['failed', 'failed', 'failed', 'completed']);
    expect(ends[0].error).toMatchObject({ message: 'declined', attempts: 2 });
    expect(ends[1].error).toMatchObject({ message: expect.stringContaining('cannot be read') });
  });

  it('of a snapshot store that is unavailable fails no run: it goes on when the store is back', async () => {
    const files = new Map<string, string>();
    let away = 2;
    const reach = () => {
      if (away-- > 0) throw new Error('the object store is away');
    };
    const harness = await kit.open({
      flows: { f: `let n = await Task.run('one'); return n + (await Task.run('one'));` },
      tasks: { one: () => 1 },
      snapshots: {
        thresholdBytes: 0,
        async put(name, snapshot) {
          reach();
          files.set(name, snapshot);
          return name;
        },
        async get(reference) {
          reach();
          return files.get(reference) as string;
        },
        async remove(reference) {
          files.delete(reference);
        },
      },
    });
    kit.expectProblems();
    await harness.engine({ cachedRuns: 0 });
    expect(await harness.ended(await harness.start('f'))).toMatchObject({ status: 'completed', value: 2 });
    expect(harness.problems().join()).toContain('the object store is away');
  }, 30_000);
});
