// What becomes of a step in place and of its result when people or time limits change its run, or another worker moves it.

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { getExecution, pauseExecutions, requestCancel, resumeExecutions, retryExecution, sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Handler, Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';
import { FREE_SLOTS, HeldTasks, inPlace, nothingIsLeft, settledOnce, startInPlace, storeThatStops } from './steps.js';

describe('a step in place', () => {
  const gates: Awaited<ReturnType<typeof storeThatStops>>[] = [];
  // Before the harness is closed: it waits for its engines.
  afterEach(() => {
    for (const gate of gates) gate.goOn();
  });
  const kit = useHarness();
  afterAll(async () => {
    for (const { store } of gates) await store.close();
  });
  const gateAt = async (statement: string) => {
    const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, statement);
    gates.push(gate);
    return gate;
  };
  const woken = ({ store }: Harness) => store.hints.hint('work', 'default');

  it.each([
    ['signal', `Signal.when('go')`],
    ['timer', 'Timer.sleep(100)'],
  ])('has its result taken after a %s has moved its run on another worker', async (what, wait) => {
    const held = new HeldTasks();
    const flow = `let slow = Task.run('hold'); let first = await ${wait}; return [first, await slow];`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hold: held.hold }, engine: FREE_SLOTS });
    const claims = await gateAt('rhythm_claim_work');
    const here = await harness.engine({}, claims.store);
    const id = await startInPlace(harness, held);
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
    const id = await startInPlace(harness, held);
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
    const id = await startInPlace(harness, held);
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
    // A run has steps in place only if it waits for something: one that ends at once leaves them with rows.
    const flow = `Task.run('hold'); await Task.run('quick'); return 'gone';`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hold: held.hold, quick: () => 1 }, engine: FREE_SLOTS });
    await harness.engine();
    const ids: string[] = [];
    for (let n = 0; n < 8; n++) ids.push(await harness.start('f'));
    for (const id of ids) await held.began(`${id}:1`);
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ value: 'gone' });
    const steps = ids.map((id) => `${id}:1`);
    expect(await harness.count('executions', 'pending IS NOT NULL')).toBe(ids.length);
    await harness.engine();
    const { db } = harness.store;
    if (what === 'paused') {
      const gate = await gateAt('rhythm_pause_executions');
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
    const id = await startInPlace(harness, held, { options: { totalTimeoutMs: 400 } });
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
    const id = await startInPlace(harness, held);
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
});
