// A PostgreSQL server of its own is restarted, by a proper shutdown and by SIGKILL, while a worker process is at work on it.

import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type EmbeddedServer, startEmbedded } from '../../libs/embedded/index.js';
import { Harness } from '../engine/harness.js';
import { endWorkers, useWorkers, waitFor } from '../support/index.js';
import { freePort } from './free-port.js';
import { spawnEngine } from './spawn-engine.js';

const RUNS = 60;
const STEPS = 10;
const FLOW = `
  let paid = 0;
  for (let n = 0; n < ${STEPS}; n++) { if (await Task.run('pay') === 'paid') paid++; await Task.run('one'); }
  await Timer.sleep(1);
  return paid;
`;

describe('a database that is restarted under load', () => {
  useWorkers();
  const toClose: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close();
  });

  it('loses no run, repeats no effect, and never crashes the app around the worker', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'rhythm-restarts-'));
    // Where the tests run as root, PostgreSQL runs as another user, who must be able to enter.
    chmodSync(dataDir, 0o711);
    toClose.push(() => rmSync(dataDir, { recursive: true, force: true }));
    const port = await freePort();
    // Durable: a killed server must not forget what it had confirmed.
    let server: EmbeddedServer = await startEmbedded({ dataDir, port, durable: true });
    toClose.push(() => server.stop());
    const harness = await Harness.open({ url: server.url, schema: 'rhythm', flows: { order: FLOW } });
    toClose.push(() => harness.close());
    await harness.query('CREATE TABLE paid (id text)');
    const paid = async () => (await harness.query<{ n: number }>('SELECT count(*)::integer AS n FROM paid'))[0].n;
    const unfinished = () => harness.count('executions', `type = 'workflow' AND finished_at IS NULL`);
    const bootedAt = async () => (await harness.query<{ at: string }>('SELECT pg_postmaster_start_time()::text AS at'))[0].at;
    toClose.push(endWorkers);

    const options = { heartbeatMs: 500, deadAfterMs: 20_000, concurrency: 8 };
    const worker = spawnEngine({ url: server.url, schema: 'rhythm' }, 'app', { flows: { order: FLOW }, app: true, options });
    const [, workerId] = await worker.line(/ready (\S+)/);
    const ids = await Promise.all(Array.from({ length: RUNS }, () => harness.start('order')));

    const restarts: { how: string; end: () => Promise<void> }[] = [
      { how: 'by a shutdown', end: () => server.stop() },
      {
        how: 'by SIGKILL',
        end: async () => {
          process.kill(postmaster(dataDir), 'SIGKILL');
          await server.stop();
        },
      },
    ];
    for (const { how, end } of restarts) {
      const before = await paid();
      const booted = await bootedAt();
      await waitFor(`progress before the restart ${how}`, async () => (await paid()) > before + RUNS, { timeoutMs: 60_000, everyMs: 5 });
      const problems = worker.output.match(/problem/g)?.length ?? 0;
      await end();
      await waitFor('the worker to notice', () => (worker.output.match(/problem/g)?.length ?? 0) > problems);
      server = await startEmbedded({ dataDir, port, durable: true });
      const again = await waitFor(`the server to be back after the restart ${how}`, bootedAt);
      expect(again).not.toBe(booted);
      expect(await unfinished()).toBeGreaterThan(0);
    }

    for (const id of ids) expect(await harness.ended(id, 60_000)).toMatchObject({ status: 'completed', value: STEPS, crashes: 0 });
    // Exactly one effect for every step that was called.
    const effects = await harness.query<{ id: string }>('SELECT id FROM paid ORDER BY id');
    const steps = await harness.query<{ id: string }>(`SELECT id FROM rhythm.executions WHERE target_name = 'pay' ORDER BY id`);
    expect(effects).toHaveLength(RUNS * STEPS);
    expect(effects).toEqual(steps);
    expect(await harness.count('execution_status')).toBe(RUNS * (1 + 2 * STEPS));
    expect(await harness.count('execution_status', `status <> 'completed'`)).toBe(0);
    await waitFor('nothing to be held', async () => (await harness.count('claims')) + (await harness.count('work_queue')) === 0);
    // The same process with the same worker: it was neither started again nor declared dead.
    const workers = await harness.query<{ worker_id: string }>('SELECT worker_id FROM rhythm.worker_heartbeats');
    expect(workers).toEqual([{ worker_id: workerId }]);
    expect((await worker.kill('SIGKILL')).signal).toBe('SIGKILL');
  }, 180_000);
});

function postmaster(dataDir: string): number {
  return Number(readFileSync(join(dataDir, 'data', 'postmaster.pid'), 'utf8').split('\n')[0]);
}
