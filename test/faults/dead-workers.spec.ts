// Real worker processes that freeze, die and crash.

import { describe, expect, it } from '@jest/globals';
import { readHistory, Store } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { endWorkers, useWorkers, waitFor } from '../support/index.js';
import { Wire } from './proxy.js';
import { type EngineProcess, spawnEngine } from './spawn-engine.js';

describe('dead workers', () => {
  const kit = useHarness();
  useWorkers();
  const spawn = (name: string, engine?: EngineProcess) => spawnEngine(kit, name, engine);

  it('cannot write: a frozen worker wakes after it was declared dead, its result is dropped, and a worker with a new id replaces it', async () => {
    const harness = await kit.open({});
    const frozen = spawn('frozen', { holdMs: 400 });
    const [, firstId] = await frozen.line(/ready (\S+)/);
    const id = await harness.start('hold');
    await frozen.line(`holding ${id}`);
    frozen.freeze();
    const other = spawn('other', { holdMs: 10 });
    expect(await harness.ended(id, 20_000)).toMatchObject({ status: 'completed', value: 'other', crashes: 0 });
    const [end] = await harness.query<{ fence: number }>('SELECT fence FROM rhythm.executions WHERE id = $1', [id]);
    frozen.thaw();
    await frozen.line('worker-declared-dead');
    const [, secondId] = await frozen.line(/worker-started \{"type":"worker-started","workerId":"(?!FIRST)([^"]+)"/);
    await waitFor('the heartbeat of the new worker', async () => (await harness.count('worker_heartbeats')) === 2);
    expect(secondId).toBeDefined();
    const workers = await harness.query<{ worker_id: string }>('SELECT worker_id FROM rhythm.worker_heartbeats');
    expect(workers.map((worker) => worker.worker_id)).not.toContain(firstId);
    const [after] = await harness.query<{ fence: number; output: string }>('SELECT fence, output FROM rhythm.executions WHERE id = $1', [
      id,
    ]);
    expect(after).toEqual({ fence: end.fence, output: 'other' });
    expect((await readHistory(harness.store.db, id)).map((entry) => entry.kind)).toContain('recovered');
    await Promise.all([frozen.kill(), other.kill()]);
  }, 60_000);

  it('lose nothing: a workflow goes on where a killed worker left it', async () => {
    const flow = `let a = await Task.run('one'); let b = await Task.run('hold'); return [a, b];`;
    const harness = await kit.open({ flows: { f: flow } });
    const first = spawn('first', { flows: { f: flow } });
    await first.line('ready');
    const id = await harness.start('f');
    await first.line(`holding ${id}:2`);
    await first.kill('SIGKILL');
    const second = spawn('second', { flows: { f: flow }, holdMs: 10 });
    expect(await harness.ended(id, 20_000)).toMatchObject({ status: 'completed', value: [1, 'second'] });
    expect(await harness.count('execution_status', `parent_id = '${id}'`)).toBe(2);
    await second.kill();
  }, 60_000);

  it('quarantine what kills them, and run the work beside it', async () => {
    const harness = await kit.open({});
    const poison = await harness.start('crash', undefined, { type: 'task' });
    const neighbours = await Promise.all(Array.from({ length: 10 }, () => harness.start('hold', undefined, { type: 'task' })));
    let crashes = 0;
    while (
      !(await harness.query<{ n: number }>(`SELECT 1 AS n FROM rhythm.executions WHERE id = $1 AND finished_at IS NOT NULL`, [poison]))
        .length
    ) {
      const worker = spawn(`w${crashes}`, { options: { maxCrashes: 3, deadAfterMs: 400 }, holdMs: 5 });
      const gone = await Promise.race([
        worker.exited.then(() => true),
        waitFor('the quarantine', async () => (await harness.count('executions', `id = '${poison}' AND finished_at IS NOT NULL`)) === 1, {
          timeoutMs: 30_000,
        }).then(() => false),
      ]);
      if (gone) expect(worker.output).toContain('crashing');
      if (gone) crashes++;
      expect(crashes).toBeLessThan(10);
    }
    expect(await harness.ended(poison)).toMatchObject({ status: 'failed', error: { code: 'RHYTHM_QUARANTINED' } });
    for (const id of neighbours) expect((await harness.ended(id, 30_000)).status).toBe('completed');
    expect(crashes).toBe(4);
    await endWorkers();
  }, 120_000);

  it('are found by a worker whose sweeps are far apart because the database is slow', async () => {
    const harness = await kit.open({});
    const options = { heartbeatMs: 200, deadAfterMs: 6_000 };
    const dead = spawn('dead', { options });
    await dead.line('ready');
    const id = await harness.start('hold');
    await dead.line(`holding ${id}`);
    await dead.kill('SIGKILL');
    const wire = await Wire.to(kit.url);
    try {
      const store = await Store.open({ url: wire.url, schema: kit.schema });
      const sweeper = await harness.engine(options, store);
      // Each sweep takes several statements, so two of them are now much further apart than two heartbeats and a second.
      wire.slow(600);
      await waitFor('the dead one to be recovered', () => harness.events.some((event) => event.type === 'recovered'), {
        timeoutMs: 40_000,
      });
      wire.slow(0);
      await sweeper.stop();
      await store.close();
    } finally {
      await wire.close();
    }
  }, 90_000);

  it('that died twice with much work leave it to be done one after the other without a pause, as long as nothing dies', async () => {
    const harness = await kit.open({});
    const ids = await Promise.all(Array.from({ length: 80 }, () => harness.start('hold', undefined, { type: 'task' })));
    const options = { deadAfterMs: 400, concurrency: 200 };
    for (const name of ['first', 'second']) {
      const worker = spawn(name, { options });
      for (const id of ids) await worker.line(`holding ${id}`);
      await worker.kill('SIGKILL');
    }
    const third = spawn('third', { options, holdMs: 1 });
    await waitFor('the work to be recovered', async () => (await harness.count('executions', 'crashes >= 2')) > 40);
    const recoveredAt = performance.now();
    for (const id of ids) expect(await harness.ended(id, 60_000)).toMatchObject({ status: 'completed', value: 'third' });
    // One per half second would be 40 s.
    expect(performance.now() - recoveredAt).toBeLessThan(20_000);
    await third.kill();
  }, 120_000);
});
