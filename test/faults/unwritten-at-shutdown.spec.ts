// A worker that stops while an end of its work cannot be written leaves the claim of it, and another worker takes it over.

import { describe, expect, it } from '@jest/globals';
import { insertExecutions, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';

describe('a shutdown', () => {
  const kit = useHarness();

  it('loses nothing that could not be written, even when the rest of its claim is given back', async () => {
    kit.expectProblems();
    let runs = 0;
    let stopped = false;
    const tasks = {
      fast: () => ++runs,
      // Given back at the stop of the first worker, done by the second.
      slow: (_: unknown, { signal }: { signal: AbortSignal }) =>
        stopped ? 'done' : new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    };
    const harness = await kit.open({ tasks });
    const { store } = harness;
    const [{ name }] = await harness.query<{ name: string }>('SELECT quote_ident(current_database()) AS name');
    await insertExecutions(
      store.db,
      ['fast', 'slow'].map((id) => ({ id, fresh: true, type: 'task', targetName: id, queue: 'default' }) as const),
    );
    await store.db.transaction(async (db) => {
      await db.rows(sql('spec', `SELECT 1 FROM rhythm.executions WHERE id = 'fast' FOR UPDATE`));
      // Instead of waiting for the row forever, its write is refused and tried again.
      await harness.query(`ALTER DATABASE ${name} SET statement_timeout = '100ms'`);
      const first = await harness.engine({ shutdownGraceMs: 50 });
      await waitFor('the end to be refused', () => harness.problems().length > 0);
      await first.stop();
      stopped = true;
    });
    await harness.query(`ALTER DATABASE ${name} RESET statement_timeout`);
    // It is still its worker's, by its claim.
    expect(await harness.status('fast')).toBe('running');
    await harness.engine();
    for (const id of ['fast', 'slow']) expect(await harness.ended(id)).toMatchObject({ status: 'completed' });
    expect(runs).toBe(2);
  });
});
