// Two worker processes hold work while the database is away for longer than deadAfter.

import { afterEach, describe, expect, it } from '@jest/globals';
import { useHarness } from '../engine/engine-spec.js';
import { useWorkers, waitFor } from '../support/index.js';
import { Wire } from './proxy.js';
import { spawnEngine } from './spawn-engine.js';

const FLOW = `return await Task.run('hold', undefined, { queue: Inputs });`;
const HEARTBEAT_MS = 200;
const DEAD_AFTER_MS = 3_000;

describe('a long outage', () => {
  const kit = useHarness();
  useWorkers();
  const wires: Wire[] = [];
  afterEach(async () => {
    for (const wire of wires.splice(0)) await wire.close();
  });

  it('takes no work away from two workers that are alive, and neither is declared dead when the database returns', async () => {
    const harness = await kit.open({ flows: { f: FLOW } });
    wires.push(await Wire.to(kit.url), await Wire.to(kit.url));
    const [wireA, wireB] = wires;
    const spawn = (name: string, wire: Wire) =>
      spawnEngine({ url: wire.url, schema: kit.schema }, name, {
        flows: { f: FLOW },
        options: { queues: [name], heartbeatMs: HEARTBEAT_MS, deadAfterMs: DEAD_AFTER_MS },
      });
    const [a, b] = [spawn('a', wireA), spawn('b', wireB)];
    const workerIds = await Promise.all([a, b].map(async (worker) => (await worker.line(/ready (\S+)/))[1]));
    const runs = await Promise.all(['a', 'b'].map((queue) => harness.start('f', queue, { queue })));
    await Promise.all([a.line(`holding ${runs[0]}:1`), b.line(`holding ${runs[1]}:1`)]);
    const claims = () => harness.query<{ worker_id: string }>('SELECT worker_id FROM rhythm.claims ORDER BY worker_id');
    expect((await claims()).map((claim) => claim.worker_id)).toEqual([...workerIds].sort());

    const beatsOf = async (n: number) =>
      (await harness.query<{ beats: number }>('SELECT beats FROM rhythm.worker_heartbeats WHERE worker_id = $1', [workerIds[n]]))[0].beats;
    // `a` is cut off last and returns first: it has read the last heartbeat of `b`, and reads the same one after the outage.
    wireB.cut();
    await b.line('problem heartbeat');
    const seen = await beatsOf(0);
    await waitFor('a to read the heartbeats once more', async () => (await beatsOf(0)) > seen + 1);
    wireA.cut();
    const lastOfB = await beatsOf(1);
    // By the database's clock both are long dead now.
    await waitFor('both to be silent for longer than deadAfter', async () => {
      const silent = `beat_at < now() - interval '${DEAD_AFTER_MS * 1.5} milliseconds'`;
      return (await harness.count('worker_heartbeats', silent)) === 2;
    });
    // One ends its task while the database is away, the other after the return.
    process.kill(a.pid, 'SIGUSR2');
    await Promise.all([a, b].map((worker) => worker.line('problem heartbeat')));
    const [{ beats }] = await harness.query<{ beats: number }>('SELECT max(beats) AS beats FROM rhythm.worker_heartbeats');
    const lastOfA = await beatsOf(0);
    wireA.mend();
    await waitFor('a to read the heartbeats again', async () => (await beatsOf(0)) > lastOfA + 1);
    expect(await harness.query('SELECT beats FROM rhythm.worker_heartbeats WHERE worker_id = $1', [workerIds[1]])).toEqual([
      { beats: lastOfB },
    ]);
    wireB.mend();
    expect(await harness.ended(runs[0], 20_000)).toMatchObject({ status: 'completed', value: 'a', crashes: 0 });
    // Long enough for a sweeper that counted the outage, and for one that began to count at the return.
    const enough = beats + (DEAD_AFTER_MS * 1.5) / HEARTBEAT_MS;
    await waitFor('both to write heartbeats for longer than deadAfter', async () => {
      return (await harness.count('worker_heartbeats', `beats > ${enough}`)) === 2;
    });
    process.kill(b.pid, 'SIGUSR2');
    expect(await harness.ended(runs[1], 20_000)).toMatchObject({ status: 'completed', value: 'b', crashes: 0 });

    const workers = await harness.query<{ worker_id: string }>('SELECT worker_id FROM rhythm.worker_heartbeats');
    expect(workers.map((worker) => worker.worker_id).sort()).toEqual([...workerIds].sort());
    expect(await harness.query(`SELECT execution_id FROM rhythm.history WHERE kind IN ('recovered', 'quarantined')`)).toEqual([]);
    for (const worker of [a, b]) {
      expect(worker.output).not.toMatch(/worker-declared-dead|recovered|aborted|lost/);
      expect(worker.output.match(/^worker-started/gm)).toHaveLength(1);
      expect(worker.output.match(/^holding/gm)).toHaveLength(1);
    }
    expect(await harness.count('executions')).toBe(4);
    await Promise.all([a.kill(), b.kill()]);
  }, 90_000);
});
