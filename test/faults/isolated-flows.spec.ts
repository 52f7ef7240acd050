// Isolated flows that hold their process, fill its memory or lose it: only their own run notices.

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { requestCancel } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { exists, HOSTILE, isAlive } from '../isolation/children.js';
import { eventually, spawnWorker, useWorkers, waitFor } from '../support/index.js';

useWorkers();
const folder = mkdtempSync(join(tmpdir(), 'rhythm-isolated-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SMALL = { place: HOSTILE, memoryBytes: 256 * 1024 * 1024, turnTimeoutMs: 1_000 };
const STEPS = `let sum = 0; for (let n = 1; n <= 5; n++) sum += await Task.run('double', n); return sum`;
const FLOWS = { spin: 'return 1', 'grow-buffers': 'return 1', 'stuck-once': `await sleep(0.01); return 'done'`, slow: `await sleep(60)` };

describe('an isolated flow', () => {
  const { open, expectProblems } = useHarness();
  const isolate = [...Object.keys(FLOWS), 'tenant'];
  const openHostile = (more: { isolation?: object; engine?: object } = {}) =>
    open({
      flows: { ...FLOWS, tenant: STEPS, own: STEPS },
      tasks: { double: (n: number) => n * 2 },
      isolate,
      isolation: { ...SMALL, ...more.isolation },
      engine: { maxCrashes: 1, ...more.engine },
    });
  // The process that runs a turn leaves its id in a file.
  const marked = async (mark: string) => Number(await waitFor('the turn to begin', () => existsSync(mark) && readFileSync(mark, 'utf8')));

  it.each([
    ['spin', /isolation\.turnTimeout \(1000 ms\)/],
    ['grow-buffers', /isolation\.memoryBytes \(268435456 bytes\)/],
  ])('that does "%s" is quarantined with the reason, and the runs beside it never notice', async (hostile, reason) => {
    expectProblems();
    const harness = await openHostile();
    await harness.engine();
    const bad = await harness.start(hostile);
    const good = await Promise.all(Array.from({ length: 30 }, (_, n) => harness.start(n % 2 === 0 ? 'tenant' : 'own')));
    for (const id of good) expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 30, crashes: 0 });
    const { status, error } = await harness.ended(bad);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ name: 'QuarantinedError', code: 'RHYTHM_QUARANTINED', message: expect.stringMatching(reason) });
    expect(error).toMatchObject({ message: expect.stringMatching(/2 times in a row \(worker\.maxCrashes is 1\)/) });
    expect(harness.events).toContainEqual(expect.objectContaining({ type: 'quarantined', executionId: bad, crashes: 2 }));
    expect(harness.problems().filter((problem) => !problem.includes(bad))).toEqual([]);
  });

  it.each(['SIGKILL', 'SIGSTOP'] as const)('whose process gets %s in the middle of a turn runs that turn again', async (signal) => {
    expectProblems();
    const mark = join(folder, signal);
    const harness = await openHostile({ isolation: { turnTimeoutMs: 3_000 } });
    await harness.engine();
    const id = await harness.start('stuck-once', mark);
    process.kill(await marked(mark), signal);
    await eventually(async () => {
      const [row] = await harness.query<{ crashes: number; note: string }>('SELECT crashes, note FROM rhythm.executions WHERE id = $1', [
        id,
      ]);
      expect(row).toMatchObject({ crashes: 1, note: expect.stringMatching(/^The process that ran a turn/) });
    });
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'done', crashes: 0, note: null });
    expect(harness.problems()).toHaveLength(1);
  });

  it('that is cancelled in the middle of a turn ends after that turn', async () => {
    const mark = join(folder, 'cancel');
    const harness = await openHostile({ isolation: { turnTimeoutMs: 10_000 } });
    await harness.engine();
    const id = await harness.start('slow', mark);
    await marked(mark);
    await requestCancel(harness.store.db, [id], 'enough');
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { message: 'enough' } });
  });

  it('is given back by a worker that stops in the middle of its turn, which is no crash', async () => {
    const mark = join(folder, 'shutdown');
    const harness = await openHostile({ isolation: { turnTimeoutMs: 60_000 }, engine: { shutdownGraceMs: 200 } });
    const engine = await harness.engine();
    const id = await harness.start('stuck-once', mark);
    const pid = await marked(mark);
    await engine.stop();
    const [row] = await harness.query<{ crashes: number }>(
      `SELECT e.crashes FROM rhythm.executions e JOIN rhythm.work_queue q ON q.execution_id = e.id WHERE e.id = $1`,
      [id],
    );
    expect(row).toEqual({ crashes: 0 });
    await eventually(() => expect(exists(pid)).toBe(false));
    expect(await harness.count('claims')).toBe(0);
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'done', crashes: 0 });
  });

  it('waits in the database when more of them come than a worker keeps, and none is lost', async () => {
    const harness = await openHostile({ engine: { concurrency: 400 } });
    await harness.engine();
    const ids = await Promise.all(Array.from({ length: 300 }, () => harness.start('tenant')));
    for (const id of ids) expect(await harness.ended(id, 30_000)).toMatchObject({ status: 'completed', value: 30 });
  });
});

describe('the processes of isolated flows', () => {
  it('end with their worker, even if it is killed while a flow holds one of them', async () => {
    const worker = spawnWorker('test/isolation/parent-main.ts');
    const pids = (await worker.line(/children (\d+) (\d+)/)).slice(1).map(Number);
    expect(pids.filter(isAlive)).toEqual(pids);
    await worker.kill();
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
  });
});
