// Suspended workflows that a worker keeps in memory: they must not fill it.

import { describe, expect, it } from '@jest/globals';
import { sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { useWorkers, waitFor } from '../support/index.js';
import { spawnEngine } from './spawn-engine.js';

// About 14 MB in memory each, and 0.7 MB as a stored state.
const FLOW = `const held = []; for (let i = 0; i < 60000; i++) held.push({ i }); await Signal.when('go'); return held.length;`;
const RUNS = 18;
const HEAP_MB = 200;

describe('suspended workflows with large states', () => {
  const kit = useHarness();
  useWorkers();

  it(`do not fill a worker with ${HEAP_MB} MB of heap, however many wait, and all go on`, async () => {
    const harness = await kit.open({ flows: { f: FLOW } });
    const nodeArgs = [`--max-old-space-size=${HEAP_MB}`];
    const worker = spawnEngine(kit, 'small', { nodeArgs, flows: { f: FLOW }, options: { deadAfterMs: 60_000 } });
    await worker.line('ready');
    const ids: string[] = [];
    let ended = false;
    void worker.exited.then(() => {
      ended = true;
    });
    while (ids.length < RUNS && !ended) {
      const id = await harness.start('f');
      ids.push(id);
      // Waiting, and no longer held by the turn that made it wait.
      await waitFor(`run ${ids.length} to wait`, async () => ended || (await harness.status(id)) === 'suspended');
    }
    expect({ waiting: ids.length, worker: ended ? worker.output.slice(-2_000) : 'alive' }).toEqual({ waiting: RUNS, worker: 'alive' });
    await sendSignals(
      harness.store.db,
      ids.map((executionId) => ({ executionId, name: 'go' })),
    );
    harness.store.hints.hint('work', 'default');
    for (const id of ids) expect(await harness.ended(id, 60_000)).toMatchObject({ status: 'completed', value: 60_000 });
    expect(worker.output.match(/^worker-started/gm)).toHaveLength(1);
    await worker.kill();
  }, 180_000);
});
