// Large state: announced past a threshold, kept outside the row by a SnapshotStore, failed past the limit.

import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { sendSignals } from '../../libs/store/index.js';
import { FileSnapshotStore } from '../../src/engine/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const BIG = `let big = 'x'.repeat(Inputs.size); await Signal.when('go'); await Signal.when('go'); return big.length;`;

describe('large state', () => {
  const kit = useHarness();

  it('is announced, and lives in files when there is a store for it', async () => {
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
});
