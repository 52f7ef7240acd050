// The ways in which a step in place loses its run, its worker or its time, and what becomes of its result.

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import {
  findToken,
  getExecution,
  pauseExecutions,
  requestCancel,
  resumeExecutions,
  retryExecution,
  type Store,
  sendSignals,
} from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Handler, Harness } from '../engine/harness.js';
import { complete } from '../engine/random-tasks.js';
import { waitFor } from '../support/index.js';
import { type Death, type DyingStore, dyingStore } from './dying-store.js';
import { FREE_SLOTS, HeldTasks, inPlace, nothingIsLeft, settledOnce, storeThatStops } from './steps.js';

const TIMES = { heartbeatMs: 50, deadAfterMs: 500, ...FREE_SLOTS };

describe('a step in place', () => {
  const dying: DyingStore[] = [];
  const stores: Store[] = [];
  // Before the harness is closed: it waits for its engines.
  afterEach(() => {
    for (const store of dying) store.comeBack();
  });
  const kit = useHarness();
  afterAll(async () => {
    for (const store of [...stores, ...dying.map((one) => one.store)]) await store.close();
  });
  const storeThatDies = async (death: Death) => {
    const store = await dyingStore({ url: kit.url, schema: kit.schema }, death);
    dying.push(store);
    kit.expectProblems();
    return store;
  };
  const woken = ({ store }: Harness) => store.hints.hint('work', 'default');
  /** Starts a run and waits until its first call runs here, without a row. */
  const running = async (harness: Harness, held: HeldTasks, extra = {}) => {
    const id = await harness.start('f', undefined, extra);
    await held.began(`${id}:1`);
    expect(await inPlace(harness, id)).toBe(1);
    return id;
  };

  it.each([
    ['signal', `Signal.when('go')`],
    ['timer', 'Timer.sleep(100)'],
  ])('has its result taken after a %s has moved its run on another worker', async (what, wait) => {
    const held = new HeldTasks();
    const flow = `let slow = Task.run('hold'); let first = await ${wait}; return [first, await slow];`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hold: held.hold }, engine: FREE_SLOTS });
    const claims = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_claim_work');
    stores.push(claims.store);
    const here = await harness.engine({}, claims.store);
    const id = await running(harness, held);
    claims.arm();
    await claims.stopped();
    const there = await harness.engine();
    if (what === 'signal') await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"gone"' }]);
    woken(harness);
    const mover = async () =>
      (await harness.query<{ worker_id: string }>('SELECT worker_id FROM rhythm.executions WHERE id = $1', [id]))[0].worker_id;
    await waitFor('the turn on the other worker', async () => (await mover()) === there.workerId);
    expect((await getExecution(harness.store.db, `${id}:1`))?.workerId).toBe(here.workerId);
    expect(await inPlace(harness, id)).toBe(1);
    held.end(`${id}:1`, 'slow');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: [what === 'signal' ? 'gone' : null, 'slow'] });
    expect(held.begun).toEqual([`${id}:1`]);
    await settledOnce(harness, id, 1);
    claims.goOn();
    await nothingIsLeft(harness);
  });

  it('is cancelled with its run, and its result is dropped', async () => {
    const held = new HeldTasks();
    const flow = `try { await Task.run('hold'); } catch (e) { await Task.run('clean'); throw e; }`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hold: held.hold, clean: () => 'clean' }, engine: FREE_SLOTS });
    await harness.engine();
    const id = await running(harness, held);
    await requestCancel(harness.store.db, [id], 'enough');
    woken(harness);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { message: 'enough' } });
    const step = await harness.ended(`${id}:1`);
    expect(step).toMatchObject({ status: 'cancelled', error: { message: 'the workflow that started it was cancelled' } });
    await waitFor('the attempt to be aborted', () => held.aborted.length > 0);
    held.end(`${id}:1`, 'too late');
    await nothingIsLeft(harness);
    expect(await harness.ended(`${id}:1`)).toEqual(step);
  });

  it.each([
    ['runs', 'the reason'],
    ['runs', undefined],
    ['is paused', 'the reason'],
  ])('is cancelled by its id while its run %s, with the reason that was given (%s)', async (status, reason) => {
    const held = new HeldTasks();
    const harness = await kit.open({
      flows: { f: `try { return await Task.run('hold'); } catch (e) { return [e.code, e.message]; }` },
      tasks: { hold: held.hold },
      engine: FREE_SLOTS,
    });
    await harness.engine();
    const id = await running(harness, held);
    if (status === 'is paused') await pauseExecutions(harness.store.db, [id]);
    await requestCancel(harness.store.db, [`${id}:1`], reason);
    woken(harness);
    const message = reason ?? 'The execution was cancelled.';
    expect(await harness.ended(`${id}:1`)).toMatchObject({ status: 'cancelled', error: { message } });
    if (status === 'is paused') {
      expect(await harness.status(id)).toBe('paused');
      await resumeExecutions(harness.store.db, [id]);
      woken(harness);
    }
    expect((await harness.ended(id)).value).toEqual(['RHYTHM_CANCELLED', expect.stringContaining(message)]);
    held.end(`${id}:1`, 'too late');
    await nothingIsLeft(harness);
  });

  it.each(['paused', 'cancelled'])('is not run again on an idle worker when it is %s by its id', async (what) => {
    const held = new HeldTasks();
    const harness = await kit.open({ flows: { f: `Task.run('hold'); return 'gone';` }, tasks: { hold: held.hold }, engine: FREE_SLOTS });
    await harness.engine();
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(await harness.start('f'));
    for (const id of ids) await held.began(`${id}:1`);
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ value: 'gone' });
    const steps = ids.map((id) => `${id}:1`);
    await harness.engine();
    const { db } = harness.store;
    if (what === 'paused') {
      const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_pause_executions');
      stores.push(gate.store);
      gate.arm();
      const paused = pauseExecutions(gate.store.db, steps);
      await gate.stopped();
      // Nothing could claim them before the last statement.
      expect(await harness.count('work_queue')).toBe(0);
      gate.goOn();
      expect((await paused).sort()).toEqual(steps.sort());
      for (const step of steps) expect(await harness.status(step)).toBe('paused');
      expect(held.begun).toHaveLength(steps.length);
      await resumeExecutions(db, steps);
      woken(harness);
      for (const step of steps) await held.began(step, 2);
      for (const step of steps) for (let n = 0; n < 2; n++) held.end(step, 'again');
    } else await requestCancel(db, steps, 'no more');
    woken(harness);
    const error = what === 'paused' ? null : { message: 'no more' };
    for (const step of steps)
      expect(await harness.ended(step)).toMatchObject({ status: what === 'paused' ? 'completed' : 'cancelled', error });
    expect(held.begun).toHaveLength(what === 'paused' ? 2 * steps.length : steps.length);
    await nothingIsLeft(harness);
  });

  it('is cancelled when its run reaches its time limit', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({ flows: { f: `return await Task.run('hold');` }, tasks: { hold: held.hold }, engine: FREE_SLOTS });
    await harness.engine();
    const id = await running(harness, held, { options: { totalTimeoutMs: 400 } });
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { name: 'TimeoutError' } });
    const step = await harness.ended(`${id}:1`);
    expect(step.status).toBe('cancelled');
    await waitFor('the attempt to be aborted', () => held.aborted.length > 0);
    held.end(`${id}:1`, 'too late');
    // Its inbox is kept for a retry, as that of every run that failed.
    await waitFor('the rest to go', async () => (await harness.count('claims')) + (await harness.count('work_queue')) === 0);
    expect(await inPlace(harness, id)).toBe(0);
    expect(await harness.ended(`${id}:1`)).toEqual(step);
  });

  it('that ends while its run is paused is not run again: its run takes the result after the resume', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({ flows: { f: `return await Task.run('hold');` }, tasks: { hold: held.hold }, engine: FREE_SLOTS });
    await harness.engine();
    const id = await running(harness, held);
    await pauseExecutions(harness.store.db, [id]);
    held.end(`${id}:1`, 'while paused');
    await waitFor('the end of the step', async () => (await harness.status(`${id}:1`)) === 'completed');
    expect(await harness.status(id)).toBe('paused');
    expect(await inPlace(harness, id)).toBe(0);
    await resumeExecutions(harness.store.db, [id]);
    woken(harness);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'while paused' });
    expect(held.begun).toEqual([`${id}:1`]);
    await nothingIsLeft(harness);
  });

  it.each(['before', 'after'])('of a run that failed has its result taken when it ends %s the run is retried', async (when) => {
    const held = new HeldTasks();
    let mended = false;
    const breaks: Handler = () => {
      if (!mended) throw new Error('It fails.');
      return 'mended';
    };
    const flow = `let slow = Task.run('hold'); let other = await Task.run('breaks'); return [other, await slow];`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hold: held.hold, breaks }, engine: FREE_SLOTS });
    await harness.engine();
    const id = await harness.start('f');
    await held.began(`${id}:1`);
    expect(await harness.ended(id)).toMatchObject({ status: 'failed' });
    expect(await inPlace(harness, id)).toBe(1);
    mended = true;
    const end = () => held.end(`${id}:1`, 'slow');
    if (when === 'before') {
      end();
      await waitFor('the end of the step', async () => (await harness.status(`${id}:1`)) === 'completed');
    }
    await harness.store.db.transaction((tx) => retryExecution(tx, id));
    woken(harness);
    if (when === 'after') {
      await waitFor('the retry', async () => (await harness.status(`${id}:2`)) === 'completed');
      end();
    }
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: ['mended', 'slow'] });
    expect(held.begun).toEqual([`${id}:1`]);
    await settledOnce(harness, id, 2);
    await nothingIsLeft(harness);
  });

  it('that ends within the grace of a shutdown is written there, and the next one is left to another worker', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({
      flows: { f: `return [await Task.run('hold'), await Task.run('hold')];` },
      tasks: { hold: held.hold },
      engine: { shutdownGraceMs: 10_000, ...FREE_SLOTS },
    });
    const first = await harness.engine();
    const id = await running(harness, held);
    const stopped = first.stop();
    held.end(`${id}:1`, 'in time');
    await stopped;
    expect(await settledBy(harness, `${id}:1`)).toEqual({ status: 'completed', output: '"in time"' });
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
    const id = await running(harness, held);
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
    const id = await running(harness, held);
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

async function settledBy(harness: Harness, id: string) {
  const record = await getExecution(harness.store.db, id);
  return record && { status: record.status, output: record.output };
}
