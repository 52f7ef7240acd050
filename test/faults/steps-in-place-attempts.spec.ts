// What becomes of a step in place when its worker stops, dies or loses its connections in the middle of an attempt.

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import { findToken, getExecution } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Handler } from '../engine/harness.js';
import { complete } from '../engine/random-tasks.js';
import { waitFor } from '../support/index.js';
import { type Death, type DyingStore, dyingStore } from './dying-store.js';
import { FREE_SLOTS, HeldTasks, inPlace, nothingIsLeft, settledOnce, startInPlace, storeThatStops } from './steps.js';

const TIMES = { heartbeatMs: 50, deadAfterMs: 500, ...FREE_SLOTS };

describe('an attempt of a step in place', () => {
  const dying: DyingStore[] = [];
  const gates: Awaited<ReturnType<typeof storeThatStops>>[] = [];
  // Before the harness is closed: it waits for its engines.
  afterEach(() => {
    for (const store of dying) store.comeBack();
    for (const gate of gates) gate.goOn();
  });
  const kit = useHarness();
  afterAll(async () => {
    for (const { store } of [...dying, ...gates]) await store.close();
  });
  const storeThatDies = async (death: Death) => {
    const store = await dyingStore({ url: kit.url, schema: kit.schema }, death);
    dying.push(store);
    kit.expectProblems();
    return store;
  };

  it('that ends within the grace of a shutdown is written there, and the next one is left to another worker', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({
      flows: { f: `return [await Task.run('hold'), await Task.run('hold')];` },
      tasks: { hold: held.hold },
      engine: { shutdownGraceMs: 10_000, ...FREE_SLOTS },
    });
    const first = await harness.engine();
    const id = await startInPlace(harness, held);
    const stopped = first.stop();
    held.end(`${id}:1`, 'in time');
    await stopped;
    expect(await getExecution(harness.store.db, `${id}:1`)).toMatchObject({ status: 'completed', output: '"in time"' });
    expect(await harness.status(`${id}:2`)).toBe('pending');
    expect([await inPlace(harness, id), await harness.count('claims'), await harness.count('worker_heartbeats')]).toEqual([0, 0, 0]);
    expect(held.begun).toEqual([`${id}:1`]);
    await harness.engine();
    await held.began(`${id}:2`);
    held.end(`${id}:2`, 'elsewhere');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: ['in time', 'elsewhere'] });
    await nothingIsLeft(harness);
  });

  it('that outlives the grace of a shutdown is aborted and queued, without a crash', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({
      flows: { f: `return await Task.run('hold');` },
      tasks: { hold: held.hold },
      engine: { shutdownGraceMs: 30, ...FREE_SLOTS },
    });
    const first = await harness.engine();
    const id = await startInPlace(harness, held);
    await first.stop();
    expect(held.aborted).toEqual([`${id}:1`]);
    held.end(`${id}:1`, 'too late');
    expect(await getExecution(harness.store.db, `${id}:1`)).toMatchObject({ status: 'pending', crashes: 0, attempts: 0 });
    await harness.engine();
    await held.began(`${id}:1`, 2);
    held.end(`${id}:1`, 'elsewhere');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'elsewhere' });
    await settledOnce(harness, id, 1);
    await nothingIsLeft(harness);
  });

  it('whose worker dies after it has asked for a token asks for another, and the first one ends nothing', async () => {
    const held = new HeldTasks();
    const tokens: string[] = [];
    const later: Handler = async (input, context) => {
      tokens.push(await context.completeLater());
      return tokens.length === 1 ? held.hold(input, context) : undefined;
    };
    const harness = await kit.open({ flows: { f: `return await Task.run('later');` }, tasks: { later }, engine: TIMES });
    const victim = await storeThatDies({ statement: 'rhythm_write_heartbeat', when: 'before' });
    await harness.engine({}, victim.store);
    const id = await harness.start('f');
    await held.began(`${id}:1`);
    victim.arm();
    await victim.died();
    await harness.engine();
    await waitFor('the hand-over', async () => (await harness.status(`${id}:1`)) === 'suspended');
    expect((await findToken(harness.store.db, tokens[0]))?.valid ?? false).toBe(false);
    await complete(harness.store, tokens[1], 'from outside');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'from outside', crashes: 0 });
    victim.comeBack();
    held.end(`${id}:1`, 'too late');
    await waitFor('the dead worker to notice', () => harness.events.some(({ type }) => type === 'worker-declared-dead'));
    await nothingIsLeft(harness);
    await settledOnce(harness, id, 1);
    expect(tokens).toHaveLength(2);
  });

  it('whose worker dies after it has reported progress goes on from there on another', async () => {
    const held = new HeldTasks();
    const found: unknown[] = [];
    const report: Handler = async (input, context) => {
      found.push(context.lastProgress);
      if (context.lastProgress !== undefined) return 'went on';
      await context.heartbeat({ at: 'halfway' });
      return held.hold(input, context);
    };
    const harness = await kit.open({ flows: { f: `return await Task.run('report');` }, tasks: { report }, engine: TIMES });
    const victim = await storeThatDies({ statement: 'rhythm_write_heartbeat', when: 'before' });
    await harness.engine({}, victim.store);
    const id = await harness.start('f');
    await held.began(`${id}:1`);
    victim.arm();
    await victim.died();
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'went on' });
    expect(found).toEqual([undefined, { at: 'halfway' }]);
    await settledOnce(harness, id, 1);
  });

  it('that ends on a worker which was declared dead and does not know it is dropped, while another runs the step again', async () => {
    const [held, again] = [new HeldTasks(), new HeldTasks()];
    const harness = await kit.open({ flows: { f: `return await Task.run('hold');` }, tasks: { hold: again.hold }, engine: TIMES });
    const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_write_heartbeat');
    gates.push(gate);
    await harness.engine({}, gate.store, { hold: held.hold });
    const id = await startInPlace(harness, held);
    gate.arm();
    await gate.stopped();
    await harness.engine();
    await waitFor('the step to run again', () => again.begun.length + held.begun.length > 1);
    held.end(`${id}:1`, 'dropped');
    await waitFor('the result to be dropped', () => harness.events.some(({ type }) => type === 'lost'));
    // A wake may be writing what it waits for.
    await waitFor('the run to be at rest', async () => (await harness.status(id)) === 'suspended');
    expect(await harness.count('steps')).toBe(0);
    for (const tasks of [held, again]) for (const one of tasks.running) tasks.end(one, 'the second');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'the second', crashes: 0 });
    await settledOnce(harness, id, 1);
    gate.goOn();
    await waitFor('it to notice', () => harness.events.some(({ type }) => type === 'worker-declared-dead'));
    await nothingIsLeft(harness);
  });

  it('has its attempts counted when one times out and its worker dies before the next', async () => {
    const attempts: number[] = [];
    const hang = (_: unknown, { attempt, signal }: TaskContext) => {
      attempts.push(attempt);
      if (attempt === 3) return 'the third';
      return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    };
    const flow = `return await Task.run('hang', null, { timeout: 40, retry: { maxAttempts: 3, delay: 300 } });`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hang }, engine: TIMES });
    const victim = await storeThatDies({ statement: 'rhythm_move_due', when: 'before' });
    await harness.engine({ pollMs: 10_000 }, victim.store);
    const id = await harness.start('f');
    await waitFor('the retry', () => harness.events.some(({ type }) => type === 'retried'));
    victim.arm();
    await victim.died();
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'the third' });
    expect(attempts).toEqual([1, 2, 3]);
    expect(await getExecution(harness.store.db, `${id}:1`)).toMatchObject({ attempts: 2, crashes: 0 });
    await settledOnce(harness, id, 1);
  });

  it('is not run again when its worker loses every connection for a moment', async () => {
    kit.expectProblems();
    const held = new HeldTasks();
    const harness = await kit.open({
      flows: { f: `return [await Task.run('hold'), await Task.run('hold')];` },
      tasks: { hold: held.hold },
      engine: FREE_SLOTS,
    });
    await harness.engine({ deadAfterMs: 20_000 });
    const id = await startInPlace(harness, held);
    const cut = await harness.query<{ cut: boolean }>(
      'SELECT pg_terminate_backend(pid) AS cut FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    expect(cut.length).toBeGreaterThan(2);
    held.end(`${id}:1`, 'first');
    await held.began(`${id}:2`);
    held.end(`${id}:2`, 'second');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: ['first', 'second'] });
    expect(held.begun).toEqual([`${id}:1`, `${id}:2`]);
    await settledOnce(harness, id, 2);
    await nothingIsLeft(harness);
  });
});
