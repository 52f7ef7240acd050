// What a worker has in place and what the database has for it are compared at every heartbeat.

import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { recoverWorker, sendSignals, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';
import { type DyingStore, dyingStore } from './dying-store.js';
import { FREE_SLOTS, HeldTasks, inPlace, nothingIsLeft, startInPlace, storeThatStops } from './steps.js';

describe('a heartbeat', () => {
  const gates: Awaited<ReturnType<typeof storeThatStops>>[] = [];
  const dying: DyingStore[] = [];
  // Before the harness is closed: it waits for its engines.
  afterEach(() => {
    for (const gate of gates) gate.goOn();
    for (const store of dying) store.comeBack();
  });
  const kit = useHarness();
  afterAll(async () => {
    for (const { store } of [...gates, ...dying]) await store.close();
  });

  it('queues no step that begins while the worker asks what the database has for it', async () => {
    const tasks = new HeldTasks();
    const harness = await kit.open({ flows: { f: `return await Task.run('hold');` }, tasks: { hold: tasks.hold }, engine: FREE_SLOTS });
    const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_unknown_steps');
    gates.push(gate);
    await harness.engine({}, gate.store);
    // A worker without claims has nothing to ask for.
    const other = await harness.start('f');
    await tasks.began(`${other}:1`);
    gate.arm();
    await gate.stopped();
    const id = await harness.start('f');
    await tasks.began(`${id}:1`);
    expect(await inPlace(harness, id)).toBe(1);
    const beats = async () => (await harness.query<{ n: number }>('SELECT max(beats)::integer AS n FROM rhythm.worker_heartbeats'))[0].n;
    const before = await beats();
    gate.goOn();
    await waitFor('the next heartbeat', async () => (await beats()) > before);
    expect([await inPlace(harness, id), await harness.count('work_queue')]).toEqual([1, 0]);
    for (const each of [other, id]) tasks.end(`${each}:1`, 'held');
    for (const each of [other, id]) expect(await harness.ended(each)).toMatchObject({ status: 'completed', value: 'held' });
    expect(tasks.begun).toEqual([`${other}:1`, `${id}:1`]);
    await nothingIsLeft(harness);
  });

  it('that recovers another worker leaves the claim of a run whose row was locked when its steps were queued', async () => {
    kit.expectProblems();
    const tasks = new HeldTasks();
    const engine = { heartbeatMs: 50, deadAfterMs: 300, ...FREE_SLOTS };
    const harness = await kit.open({ flows: { f: `return await Task.run('hold');` }, tasks: { hold: tasks.hold }, engine });
    const dead = await dyingStore({ url: kit.url, schema: kit.schema }, { statement: 'rhythm_write_heartbeat', when: 'before' });
    dying.push(dead);
    await harness.engine({}, dead.store);
    const id = await startInPlace(harness, tasks);
    dead.arm();
    await dead.died();
    const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_recover_worker');
    gates.push(gate);
    gate.arm();
    await harness.store.db.transaction(async (tx) => {
      await tx.rows(sql('spec_lock', 'SELECT FROM rhythm.executions WHERE id = $1 FOR UPDATE'), [id]);
      await harness.engine({}, gate.store);
      await gate.stopped();
    });
    expect(await inPlace(harness, id)).toBe(1);
    gate.goOn();
    await tasks.began(`${id}:1`, 2);
    dead.comeBack();
    for (const one of tasks.running) tasks.end(one, 'held');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'held' });
    await nothingIsLeft(harness);
  });

  it('that comes late leaves no step without a claim: those that began after the worker was declared dead are found too', async () => {
    const tasks = new HeldTasks();
    const flow = `let slow = Task.run('hold'); await Signal.when('go'); return [await Task.run('hold'), await slow];`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { hold: tasks.hold }, engine: { heartbeatMs: 50, ...FREE_SLOTS } });
    const gate = await storeThatStops({ url: kit.url, schema: kit.schema }, 'rhythm_write_heartbeat');
    gates.push(gate);
    const { workerId } = await harness.engine({}, gate.store);
    gate.arm();
    await gate.stopped();
    const id = await harness.start('f');
    await tasks.began(`${id}:1`);
    expect(await inPlace(harness, id)).toBe(1);
    const [{ beats }] = await harness.query<{ beats: number }>('SELECT beats FROM rhythm.worker_heartbeats');
    const recovered = await recoverWorker(harness.store.db, workerId as string, beats, 5);
    expect(recovered?.given.map((step) => step.id)).toEqual([`${id}:1`]);
    // It does not know yet, and goes on with the run, of which it still runs the step.
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    await tasks.began(`${id}:3`);
    await tasks.began(`${id}:1`, 2);
    const claimed = await harness.query(
      `SELECT c.worker_id FROM rhythm.executions e JOIN rhythm.claims c ON e.id = ANY(c.ids) AND -1 = ANY(c.fences)
      WHERE e.id = $1 AND e.pending LIKE '%' || c.worker_id || '%'`,
      [id],
    );
    expect(claimed).toEqual([{ worker_id: workerId }]);
    gate.goOn();
    await waitFor('the worker to notice', () => harness.events.some(({ type }) => type === 'worker-declared-dead'));
    await tasks.began(`${id}:3`, 2);
    await tasks.began(`${id}:1`, 3);
    for (const step of tasks.running) tasks.end(step, step);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: [`${id}:3`, `${id}:1`] });
    await nothingIsLeft(harness);
  });
});
