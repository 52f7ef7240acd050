// A turn whose values the database refuses keeps the snapshot outside the row from which the run continues.

import { describe, expect, it } from '@jest/globals';
import { DatabaseError } from 'pg';
import { retryExecution } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';
import { watchLinks } from './watched-links.js';

describe('a refused turn', () => {
  const kit = useHarness();

  it('keeps the snapshot from which its run continues, and a retry finishes it', async () => {
    kit.expectProblems();
    const kept = new Map<string, string>();
    let broken = true;
    const harness = await kit.open({
      flows: { f: `const big = 'x'.repeat(5000); await Task.run('quick'); const x = await Task.run('refuse-me'); return big.length + x;` },
      tasks: { quick: () => 1, 'refuse-me': () => 2 },
      snapshots: {
        thresholdBytes: 1000,
        put: async (n: string, t: string) => {
          kept.set(n, t);
          return n;
        },
        get: async (n: string) => kept.get(n),
        remove: async (n: string) => void kept.delete(n),
      } as never,
    });
    const store = watchLinks(harness.store, async ({ name }, values, send) => {
      if (broken && name.startsWith('rhythm_commit') && values.some((value) => String(value).includes('refuse-me')))
        throw Object.assign(new DatabaseError('refused', 0, 'error'), { code: '22021' });
      return send();
    });
    await harness.engine({}, store);
    const id = await harness.start('f');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed' });
    const [{ ref }] = await harness.query<{ ref: string }>('SELECT snapshot_ref AS ref FROM rhythm.workflow_execution_context');
    // The one of the refused turn is removed.
    await waitFor('one state to be left', () => kept.size === 1);
    expect([...kept.keys()]).toEqual([ref]);
    broken = false;
    await harness.store.db.transaction((tx) => retryExecution(tx, id));
    harness.store.hints.hint('work', 'default');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 5_002 });
  }, 30_000);
});
