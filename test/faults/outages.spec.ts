// The database goes away and comes back; no worker is declared dead by mistake, and nothing is lost.

import { afterEach, describe, expect, it } from '@jest/globals';
import type { EngineOptions } from '../../libs/engine/index.js';
import { Store } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { Wire } from './proxy.js';

describe('outages', () => {
  const kit = useHarness();
  const toClose: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close();
  });
  // An engine whose connections all go through the wire. `cutFirst`: the connections of the pool are silent and would not be closed
  // in time, so the wire is closed before the rest.
  const engineOn = async (
    harness: Harness,
    wire: Wire,
    options: Partial<EngineOptions>,
    { cutFirst = false, ...own }: { cutFirst?: boolean; replyTimeoutMs?: number } = {},
  ) => {
    const store = await Store.open({ url: wire.url, schema: kit.schema, connectTimeoutMs: 1_000, ...own });
    const engine = await harness.engine(options, store);
    const closeWire = () => wire.close();
    const closeRest = [() => store.close(), () => engine.stop()];
    toClose.push(...(cutFirst ? [...closeRest, closeWire] : [closeWire, ...closeRest]));
  };

  it('declares no worker dead after the database was away for longer than deadAfter', async () => {
    const harness = await kit.open({ flows: { f: `return await Task.run('one');` }, tasks: { one: () => 1 } });
    kit.expectProblems();
    const wire = await Wire.to(kit.url);
    const stores = await Promise.all([1, 2].map(() => Store.open({ url: wire.url, schema: kit.schema, connectTimeoutMs: 1_000 })));
    const engines = await Promise.all(stores.map((store) => harness.engine({ heartbeatMs: 100, deadAfterMs: 600 }, store)));
    toClose.push(
      () => wire.close(),
      async () => void (await Promise.all(stores.map((store) => store.close()))),
      async () => void (await Promise.all(engines.map((engine) => engine.stop()))),
    );
    const ids = engines.map((engine) => engine.workerId);
    await waitFor('heartbeats of both', async () => (await harness.count('worker_heartbeats', 'beats > 3')) === 2);
    const before = await harness.start('f');
    await harness.ended(before);
    wire.cut();
    const cutAt = performance.now();
    await waitFor('the outage to be longer than deadAfter', () => performance.now() - cutAt > 2_000);
    wire.mend();
    const [{ beats }] = await harness.query<{ beats: number }>(`SELECT max(beats) AS beats FROM rhythm.worker_heartbeats`);
    await waitFor('heartbeats of both again', async () => (await harness.count('worker_heartbeats', `beats > ${beats + 8}`)) === 2);
    expect((await harness.ended(await harness.start('f'))).status).toBe('completed');
    expect(engines.map((engine) => engine.workerId)).toEqual(ids);
    expect(harness.events.filter((event) => event.type === 'recovered' || event.type === 'worker-declared-dead')).toEqual([]);
    expect(wire.cuts).toBeGreaterThan(4);
  }, 30_000);

  it('finishes everything although all connections are broken again and again under load', async () => {
    const harness = await kit.open({
      flows: { f: `let sum = 0; for (let n = 0; n < 10; n++) sum += await Task.run('one'); await Timer.sleep(5); return sum;` },
      tasks: { one: () => 1 },
    });
    kit.expectProblems();
    const wire = await Wire.to(kit.url);
    await engineOn(harness, wire, { deadAfterMs: 20_000 });
    const ids = await Promise.all(Array.from({ length: 60 }, () => harness.start('f')));
    for (let round = 1; round <= 5; round++) {
      await waitFor(
        `some progress before break ${round}`,
        async () => (await harness.count('execution_status', `status = 'completed'`)) > round * 40,
      );
      wire.cut();
      await new Promise((resolve) => setImmediate(resolve));
      wire.mend();
    }
    for (const id of ids) expect(await harness.ended(id, 30_000)).toMatchObject({ status: 'completed', value: 10 });
    await waitFor('nothing to be held', async () => (await harness.count('claims')) + (await harness.count('work_queue')) === 0);
    expect(harness.problems().length).toBeGreaterThan(0);
  }, 60_000);

  it('goes on after connections that fell silent without being closed', async () => {
    const harness = await kit.open({ flows: { f: `return await Task.run('one');` }, tasks: { one: () => 1 } });
    kit.expectProblems();
    const wire = await Wire.to(kit.url);
    await engineOn(harness, wire, { deadAfterMs: 20_000 }, { replyTimeoutMs: 500, cutFirst: true });
    await harness.ended(await harness.start('f'));
    wire.silence();
    expect(await harness.ended(await harness.start('f'), 10_000)).toMatchObject({ status: 'completed', value: 1 });
  }, 30_000);

  it('writes its heartbeat on another connection before a silent one could make it look dead', async () => {
    const harness = await kit.open({});
    kit.expectProblems();
    const wire = await Wire.to(kit.url);
    await engineOn(harness, wire, { heartbeatMs: 100, deadAfterMs: 3_000 }, { cutFirst: true });
    await waitFor('a heartbeat', async () => (await harness.count('worker_heartbeats', 'beats > 0')) === 1);
    wire.silence();
    // The first of these may still have been on its way; a worker that waits for the silent connection does not write ten.
    const [{ beats }] = await harness.query<{ beats: number }>('SELECT beats::integer AS beats FROM rhythm.worker_heartbeats');
    await waitFor('ten more heartbeats', async () => (await harness.count('worker_heartbeats', `beats > ${beats + 10}`)) === 1);
    // The other loops still wait for replies; cut off, they go on and can be stopped.
    wire.cut();
    wire.mend();
  }, 30_000);

  it('shuts down although the database does not come back, and what it held is taken over', async () => {
    let finish: (() => void) | undefined;
    const harness = await kit.open({
      tasks: {
        late: () =>
          new Promise((resolve) => {
            finish = () => resolve(1);
          }),
      },
    });
    kit.expectProblems();
    const wire = await Wire.to(kit.url);
    const store = await Store.open({ url: wire.url, schema: kit.schema, connectTimeoutMs: 1_000 });
    const engine = await harness.engine({ shutdownGraceMs: 200 }, store);
    toClose.push(
      () => wire.close(),
      () => store.close(),
    );
    const id = await harness.start('late');
    await waitFor('it to run', () => finish !== undefined);
    wire.cut();
    finish?.();
    await engine.stop();
    finish = undefined;
    await harness.engine();
    await waitFor('another worker to take it over', () => finish !== undefined);
    finish!();
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', attempts: 0 });
  }, 30_000);

  it('counts no attempt of a task whose heartbeat cannot be written: it is written when the database is back, the latest progress last', async () => {
    const wire = await Wire.to(kit.url);
    let cuts = 0;
    const beats: Promise<void>[] = [];
    const harness = await kit.open({
      tasks: {
        beating: async (_: unknown, ctx) => {
          await ctx.heartbeat({ n: 1 });
          wire.cut();
          cuts = wire.cuts;
          // Not awaited, as many tasks do: a rejection here would end the process.
          beats.push(ctx.heartbeat({ n: 2 }), ctx.heartbeat({ n: 3 }), ctx.heartbeat());
          await waitFor('the heartbeats to fail', () => wire.cuts > cuts);
          wire.mend();
          await Promise.all(beats);
          const [{ progress }] = await harness.query<{ progress: unknown }>('SELECT progress FROM rhythm.executions');
          return progress;
        },
      },
    });
    kit.expectProblems();
    await engineOn(harness, wire, { deadAfterMs: 20_000 });
    expect(await harness.ended(await harness.start('beating'))).toMatchObject({ status: 'completed', attempts: 0, value: { n: 3 } });
    expect(beats).toHaveLength(3);
  }, 30_000);

  it('counts no attempt of a task whose completion token cannot be stored', async () => {
    const wire = await Wire.to(kit.url);
    let runs = 0;
    const harness = await kit.open({
      tasks: {
        handing: async (_: unknown, ctx) => {
          if (++runs > 1) return 'the second time';
          wire.cut();
          try {
            await ctx.completeLater();
          } finally {
            wire.mend();
          }
        },
      },
    });
    kit.expectProblems();
    await engineOn(harness, wire, { deadAfterMs: 20_000 });
    expect(await harness.ended(await harness.start('handing'))).toMatchObject({
      status: 'completed',
      attempts: 0,
      value: 'the second time',
    });
    expect(wire.cuts).toBeGreaterThan(0);
  }, 30_000);

  it('lets a shutdown take ten seconds longer than its grace at most, though the database has fallen silent', async () => {
    const graceMs = 1_500;
    let begun = false;
    let abortedAt: number | undefined;
    const harness = await kit.open({
      tasks: {
        endless: (_: unknown, { signal }) =>
          new Promise((_resolve, reject) => {
            begun = true;
            signal.addEventListener('abort', () => {
              abortedAt = performance.now();
              reject(signal.reason);
            });
          }),
        quick: () => 1,
      },
      flows: { f: `while (true) { await Task.run('quick'); }` },
    });
    kit.expectProblems();
    const wire = await Wire.to(kit.url);
    const store = await Store.open({ url: wire.url, schema: kit.schema });
    const engine = await harness.engine({ shutdownGraceMs: graceMs, deadAfterMs: 20_000 }, store);
    toClose.push(() => wire.close());
    await harness.start('endless');
    // Statements of every loop are on their way when the silence begins.
    await harness.start('f');
    await waitFor('the task to run', () => begun);
    await waitFor('the flow to move', async () => (await harness.count('execution_status', `status = 'completed'`)) > 5);
    const cuts = wire.cuts;
    wire.blackHole();
    const stoppedAt = performance.now();
    await engine.stop();
    await store.close();
    const tookMs = performance.now() - stoppedAt;
    expect(wire.cuts).toBeGreaterThan(cuts);
    expect(abortedAt).toBeDefined();
    expect((abortedAt as number) - stoppedAt).toBeLessThan(graceMs + 5_000);
    expect(tookMs).toBeLessThan(graceMs + 10_000 + 5_000);
  }, 120_000);
});
