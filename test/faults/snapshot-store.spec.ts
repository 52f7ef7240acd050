// Stored states outside the database: one that is gone, and a store that cannot be reached.

import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { FileSnapshotStore, type SnapshotStore } from '../../libs/engine/index.js';
import { getExecution, requestCancel, retryExecution, sendSignals } from '../../libs/store/index.js';
import { inspectRun } from '../../src/execution/inspect-run.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';

const FLOW = `const before = await Task.run('one'); const said = await Signal.when('go'); return [before, said];`;

describe('a stored state outside the database', () => {
  const kit = useHarness();
  let root: string;
  let folder: string;
  let elsewhere: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'rhythm-snapshots-'));
    folder = join(root, 'states');
    elsewhere = join(root, 'elsewhere');
    await mkdir(folder);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const waiting = async (snapshots: SnapshotStore): Promise<{ harness: Harness; id: string }> => {
    const harness = await kit.open({ flows: { f: FLOW }, tasks: { one: () => 1 }, snapshots });
    await harness.engine({ cachedRuns: 0 });
    const id = await harness.start('f');
    const isWaiting = () => harness.count('executions', `id = '${id}:1' AND status = 'completed'`);
    await waitFor('the run to wait for its signal', async () => {
      const idle = (await harness.count('claims')) + (await harness.count('work_queue')) + (await harness.count('inbox')) === 0;
      return idle && (await isWaiting()) === 1 && (await readdir(folder)).length === 1;
    });
    return { harness, id };
  };
  const send = async ({ store }: Harness, executionId: string) => {
    await sendSignals(store.db, [{ executionId, name: 'go', payload: '"yes"' }]);
    store.hints.hint('work', 'default');
  };

  it('that is gone fails its run with an error that names it; the run continues from it when it is restored and retried', async () => {
    const snapshots = new FileSnapshotStore(folder, 1);
    const { harness, id } = await waiting(snapshots);
    const [file] = await readdir(folder);
    await rename(join(folder, file), elsewhere);
    await send(harness, id);
    const failed = await harness.ended(id);
    expect(failed).toMatchObject({
      status: 'failed',
      note: null,
      error: { name: 'SnapshotMissingError', code: 'RHYTHM_SNAPSHOT_MISSING' },
    });
    expect(failed.error?.message).toContain(file);
    expect((await inspectRun(harness.store.db, id, snapshots)).text).toContain(file);
    expect(await harness.query('SELECT snapshot_ref FROM rhythm.workflow_execution_context')).toEqual([{ snapshot_ref: file }]);
    await rename(elsewhere, join(folder, file));
    await harness.store.db.transaction((tx) => retryExecution(tx, id));
    harness.store.hints.hint('work', 'default');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: [1, 'yes'], error: null });
  });

  it('that is gone does not keep its run from being cancelled', async () => {
    const { harness, id } = await waiting(new FileSnapshotStore(folder, 1));
    const [file] = await readdir(folder);
    await rm(join(folder, file));
    await requestCancel(harness.store.db, [id], 'enough');
    harness.store.hints.hint('work', 'default');
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { message: expect.stringContaining('enough') } });
  });

  it('in a store that cannot be reached keeps its run waiting, with a note; it is read less and less often, and the run goes on when the store is back', async () => {
    const files = new FileSnapshotStore(folder, 1);
    const reads: number[] = [];
    const snapshots: SnapshotStore = {
      thresholdBytes: 1,
      put: (name, snapshot) => files.put(name, snapshot),
      get: (reference) => {
        reads.push(performance.now());
        return files.get(reference);
      },
      remove: (reference) => files.remove(reference),
    };
    const { harness, id } = await waiting(snapshots);
    kit.expectProblems();
    // A volume that is not mounted any more.
    await rename(folder, elsewhere);
    reads.length = 0;
    await send(harness, id);
    await waitFor('three reads', () => reads.length >= 3);
    const [first, second, third] = reads;
    expect(third - second).toBeGreaterThan(second - first);
    await waitFor('the note of the run', async () => {
      const record = await getExecution(harness.store.db, id);
      return record?.status === 'suspended' && record.note?.includes('snapshot store') && record.error === null;
    });
    const { text, unreadable } = await inspectRun(harness.store.db, id, snapshots);
    expect(text).toContain('snapshot store');
    expect(unreadable).toContain('ENOENT');
    await rename(elsewhere, folder);
    expect(await harness.ended(id, 30_000)).toMatchObject({ status: 'completed', value: [1, 'yes'], note: null });
  }, 60_000);

  it('that cannot be written keeps its run waiting, with a note, and the run goes on when the store is back', async () => {
    const files = new FileSnapshotStore(folder, 1);
    let away = true;
    const snapshots: SnapshotStore = {
      thresholdBytes: 1,
      async put(name, snapshot) {
        if (away) throw new Error('the disk is full');
        return files.put(name, snapshot);
      },
      get: (reference) => files.get(reference),
      remove: (reference) => files.remove(reference),
    };
    kit.expectProblems();
    const harness = await kit.open({ flows: { f: FLOW }, tasks: { one: () => 1 }, snapshots });
    await harness.engine();
    const id = await harness.start('f');
    await waitFor('the note of the run', async () => (await getExecution(harness.store.db, id))?.note?.includes('the disk is full'));
    expect(await harness.count('executions')).toBe(1);
    away = false;
    await send(harness, id);
    expect(await harness.ended(id, 30_000)).toMatchObject({ status: 'completed', value: [1, 'yes'], note: null });
    expect(await harness.count('execution_status')).toBe(2);
  }, 60_000);
});
