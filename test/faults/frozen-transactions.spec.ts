// A worker freezes between the fenced write and the COMMIT of a transactional task, while its siblings wait behind it.

import { describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';
import { useWorkers } from '../support/index.js';
import { spawnEngine } from './spawn-engine.js';

const SIBLINGS = 6;
const DEAD_AFTER_MS = 3_000;
const FLOW = `return (await Promise.all(Array.from({ length: ${SIBLINGS} }, () => Task.run('pay')))).length;`;

describe('transactional tasks of one Promise.all on a worker that freezes', () => {
  const kit = useHarness();
  useWorkers();

  it('are taken over within a few times deadAfter, each with effect exactly once, and the frozen worker writes nothing more', async () => {
    const harness = await kit.open({ flows: { order: FLOW } });
    await harness.query('DROP TABLE IF EXISTS paid');
    await harness.query('CREATE TABLE paid (id text)');
    const spawn = (name: string, freezesBefore?: number) =>
      spawnEngine(kit, name, {
        flows: { order: FLOW },
        app: true,
        options: { heartbeatMs: 300, deadAfterMs: DEAD_AFTER_MS },
        freezesBefore,
      });
    const frozen = spawn('frozen', SIBLINGS - 1);
    await frozen.line('ready');
    const id = await harness.start('order');
    await frozen.line('freezes');
    const other = spawn('other');
    await other.line('ready');
    const foundAt = performance.now();
    expect(await harness.ended(id, 120_000)).toMatchObject({ status: 'completed', value: SIBLINGS });
    const tookMs = performance.now() - foundAt;
    frozen.thaw();
    await frozen.line('worker-declared-dead');
    const paid = await harness.query<{ id: string }>('SELECT id FROM paid ORDER BY id');
    expect(paid.map((row) => row.id)).toEqual(Array.from({ length: SIBLINGS }, (_, n) => `${id}:${n + 1}`));
    expect(tookMs).toBeLessThan(5 * DEAD_AFTER_MS);
    await Promise.all([frozen.kill(), other.kill()]);
  }, 180_000);
});
