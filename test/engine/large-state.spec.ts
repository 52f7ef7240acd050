// Large state: announced past a threshold, kept outside the row by a SnapshotStore, failed past the limit.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { FileSnapshotStore } from '../../libs/engine/index.js';
import { sendSignals } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const BIG = `let big = 'x'.repeat(Inputs.size); await Signal.when('go'); await Signal.when('go'); return big.length;`;

describe('large state', () => {
  const kit = useHarness();

  it('is announced, and is stored in files when there is a store for it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'rhythm-snapshots-'));
    try {
      const harness = await kit.open({ flows: { big: BIG }, snapshots: new FileSnapshotStore(folder, 10_000) });
      await harness.engine({ snapshotWarnBytes: 20_000, cachedRuns: 0 });
      const id = await harness.start('big', { size: 50_000 });
      await waitFor(
        'the first wait',
        async () => (await harness.count('workflow_execution_context', 'snapshot IS NULL AND snapshot_ref IS NOT NULL')) === 1,
      );
      expect(harness.events.some((event) => event.type === 'snapshot-large' && event.bytes > 50_000)).toBe(true);
      await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
      await waitFor('the old file to go', async () => (await readdir(folder)).length === 1 && (await harness.count('signals')) === 0);
      await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
      expect((await harness.ended(id)).value).toBe(50_000);
      await waitFor('the last file to go', async () => (await readdir(folder)).length === 0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('outside the row belongs to the turn that won, when several workers run the same one', async () => {
    const SIGNALS = 30;
    const folder = await mkdtemp(join(tmpdir(), 'rhythm-snapshots-'));
    try {
      // A loser may read a file that the winner has just replaced; it is put off, and a problem is reported.
      kit.expectProblems();
      const harness = await kit.open({
        flows: { collect: `const got = []; for (let n = 0; n < ${SIGNALS}; n++) got.push(await Signal.when('n')); return got;` },
        snapshots: new FileSnapshotStore(folder, 0),
      });
      for (let n = 0; n < 3; n++) await harness.engine({ cachedRuns: n === 0 ? 100 : 0 });
      const ids = await Promise.all(Array.from({ length: 15 }, () => harness.start('collect')));
      const all = Array.from({ length: SIGNALS }, (_, n) => n);
      await Promise.all(
        ids.flatMap((executionId) =>
          all.map(async (n) => {
            await sendSignals(harness.store.db, [{ executionId, name: 'n', payload: String(n) }]);
            harness.store.hints.hint('work', 'default');
          }),
        ),
      );
      for (const id of ids) {
        const { status, value } = await harness.ended(id, 25_000);
        expect({ status, value: [...value].sort((a: number, b: number) => a - b) }).toEqual({ status: 'completed', value: all });
      }
      // The race must have been run, or this shows nothing.
      expect(harness.events.filter((event) => event.type === 'lost').length).toBeGreaterThan(0);
      await waitFor('every file to go, even those of losers', async () => (await readdir(folder)).length === 0);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }, 60_000);
});
