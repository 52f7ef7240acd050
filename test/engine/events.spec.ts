// The event stream: what telemetry, logs and tests learn about an execution, at no cost without a subscriber.

import { describe, expect, it } from '@jest/globals';
import { type EngineEvent, EngineEvents } from '../../libs/engine/index.js';
import { claimWork, requestCancel, sendSignals } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

const FLOW = `
  const a = await Task.run("charge", 1);
  await Timer.sleep(20);
  const b = await Signal.when("go");
  return [a, b];
`;

describe('the events of an execution', () => {
  const { open, expectProblems } = useHarness();

  it('describe it, what it waits for, and how it ended', async () => {
    let attempts = 0;
    const charge = () => {
      if (++attempts === 1) throw new Error('busy');
      return 'paid';
    };
    const harness = await open({ flows: { order: FLOW }, tasks: { charge }, policies: { charge: { maxAttempts: 2 } } });
    await harness.engine();
    const id = await harness.start('order');
    const of = <Type extends EngineEvent['type']>(type: Type, executionId: string) =>
      harness.events.filter(
        (event): event is Extract<EngineEvent, { type: Type }> =>
          event.type === type && 'executionId' in event && event.executionId === executionId,
      );
    const waits = () => of('suspended', id).flatMap(({ waitsFor }) => waitsFor);
    await waitFor('the run to wait for its signal', () => waits().some(({ kind }) => kind === 'wait'));
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"now"' }]);
    harness.store.hints.hint('work', 'default');
    expect((await harness.ended(id)).value).toEqual(['paid', 'now']);
    await waitFor('the last event', () => of('finished', id).length > 0);

    const task = { name: 'charge', kind: 'task', queue: 'default', version: null, parentId: id };
    expect(of('started', `${id}:1`)).toMatchObject([
      { ...task, attempt: 1 },
      { ...task, attempt: 2 },
    ]);
    expect(of('retried', `${id}:1`)).toMatchObject([{ ...task, attempt: 1, error: { name: 'Error', message: 'busy' } }]);
    expect(of('finished', `${id}:1`)).toMatchObject([{ ...task, status: 'completed', attempts: 2, durationMs: expect.any(Number) }]);

    const run = { name: 'order', kind: 'workflow', queue: 'default', version: expect.any(String), parentId: null };
    expect(waits()).toMatchObject([{ kind: 'task', name: 'charge' }, { kind: 'timer' }, { kind: 'wait', name: 'go' }]);
    expect(of('timer-fired', id)).toMatchObject([{ ...run, call: 2 }]);
    expect(of('signal-taken', id)).toMatchObject([{ ...run, signal: 'go', call: 3 }]);
    expect(of('finished', id)).toMatchObject([{ ...run, status: 'completed', durationMs: expect.any(Number) }]);
    expect(of('started', id)).toMatchObject([{ ...run, attempt: 1 }]);
    // After the task, the timer and the signal; the first in the same commit as the end of the task.
    expect(of('resumed', id)).toHaveLength(3);
    expect(harness.events.some((event) => event.type === 'claimed' && event.count === 1)).toBe(true);
  });

  const endOf = (harness: Harness, id: string) =>
    waitFor(`the end of ${id}`, () => harness.events.find((event) => event.type === 'finished' && event.executionId === id)) as Promise<
      Extract<EngineEvent, { type: 'finished' }>
    >;

  it('report an end by a time limit like any other, with the time that it took', async () => {
    const harness = await open({
      flows: { patient: `await Signal.when('never');` },
      tasks: { slow: () => new Promise(() => undefined) },
    });
    await harness.engine();
    const options = { totalTimeoutMs: 80 };
    const running = await endOf(harness, await harness.start('slow', undefined, { options }));
    expect(running).toMatchObject({ name: 'slow', kind: 'task', queue: 'default', version: null, status: 'failed', attempts: 0 });
    expect(running.durationMs).toBeGreaterThan(20);
    const waiting = await endOf(harness, await harness.start('slow', undefined, { queue: 'nobody', options }));
    expect(waiting).toMatchObject({ queue: 'nobody', status: 'failed', attempts: 0, durationMs: null });
    const flow = await endOf(harness, await harness.start('patient', undefined, { options }));
    expect(flow).toMatchObject({ kind: 'workflow', version: expect.any(String), status: 'failed', attempts: 1 });
    expect(flow.durationMs).toBeGreaterThanOrEqual(80);
  });

  it('report an end by a cancel with the time that the attempt took, if one ran here', async () => {
    const harness = await open({ tasks: { slow: () => new Promise(() => undefined) } });
    const waiting = await harness.start('slow', undefined, { queue: 'later' });
    await harness.engine();
    const running = await harness.start('slow');
    await waitFor('it to run', () => harness.events.some((event) => event.type === 'started'));
    await waitFor('some time to pass', async () => (await harness.count('executions', `created_at < now() - interval '60 ms'`)) === 2);
    await requestCancel(harness.store.db, [running, waiting]);
    await harness.engine({ queues: ['later'] });
    const cut = await endOf(harness, running);
    expect(cut).toMatchObject({ status: 'cancelled', attempts: 0 });
    expect(cut.durationMs).toBeGreaterThan(20);
    expect(await endOf(harness, waiting)).toMatchObject({ status: 'cancelled', attempts: 0, durationMs: null });
  });

  it('report what was written when the database refuses the values of a result', async () => {
    expectProblems();
    const harness = await open({ tasks: { echo: (value: unknown) => value } });
    await harness.query(`ALTER TABLE rhythm.executions ADD CONSTRAINT spec_bad CHECK (output::text IS DISTINCT FROM '"bad"')`);
    try {
      await harness.engine();
      expect(await endOf(harness, await harness.start('echo', 'good'))).toMatchObject({ status: 'completed' });
      expect(await endOf(harness, await harness.start('echo', 'bad'))).toMatchObject({ status: 'failed' });
    } finally {
      await harness.query(`ALTER TABLE rhythm.executions DROP CONSTRAINT spec_bad`);
    }
  });

  it('report a quarantine and a recovery', async () => {
    const harness = await open({ tasks: { one: () => 1 } });
    const [poison, orphan] = [await harness.start('one'), await harness.start('one')];
    await harness.query('UPDATE rhythm.executions SET crashes = 99 WHERE id = $1', [poison]);
    // Claimed by a worker that has no heartbeat.
    const { db } = harness.store;
    await harness.query('UPDATE rhythm.work_queue SET queue = $2 WHERE execution_id = $1', [orphan, 'dead']);
    await claimWork(db, 'dead-worker', 'claim', ['dead'], 1);
    await harness.engine({ deadAfterMs: 300, heartbeatMs: 50 });
    expect(await endOf(harness, poison)).toMatchObject({ status: 'failed' });
    expect(await endOf(harness, orphan)).toMatchObject({ status: 'completed' });
    expect(harness.events).toContainEqual(expect.objectContaining({ type: 'quarantined', executionId: poison, crashes: 99 }));
    expect(harness.events).toContainEqual({ type: 'recovered', workerId: 'dead-worker', executions: [orphan] });
  });

  it('contain the reason why a run does not move when it waits for something that is not in its code', async () => {
    const harness = await open({ flows: { v: `return 1;` } });
    await harness.engine();
    const id = await harness.start('v', undefined, { version: 'f'.repeat(64) });
    const suspended = await waitFor('the run to wait', () =>
      harness.events.find((event) => event.type === 'suspended' && event.executionId === id),
    );
    expect(suspended).toMatchObject({ waitsFor: [], note: expect.stringContaining('is not in the database') });
  });

  it('are not made without a subscriber to their type', async () => {
    const emitted: EngineEvent[] = [];
    class Recorded extends EngineEvents {
      override emit(event: EngineEvent): void {
        emitted.push(event);
        super.emit(event);
      }
    }
    const stream = new Recorded();
    let attempts = 0;
    const charge = () => {
      if (++attempts === 1) throw new Error('busy');
      return 'paid';
    };
    const harness = await open({ flows: { order: FLOW }, tasks: { charge }, policies: { charge: { maxAttempts: 2 } }, stream });
    await harness.engine({ snapshotWarnBytes: 0 });
    const id = await harness.start('order');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '1' }]);
    await harness.ended(id);
    // What happens once in the life of a worker is reported always.
    expect(emitted.filter(({ type }) => !/^(worker|loop)-/.test(type))).toEqual([]);
  });

  it('reach a listener of their type only, until it unsubscribes', async () => {
    const harness = await open({ tasks: { noop: () => 1 } });
    const engine = await harness.engine();
    const { events } = engine;
    const ends: string[] = [];
    const unsubscribe = events.subscribe(['finished'], ({ executionId }) => ends.push(executionId));
    const id = await harness.start('noop');
    await harness.ended(id);
    await waitFor('its end', () => ends.includes(id));
    unsubscribe();
    await harness.ended(await harness.start('noop'));
    expect(ends).toEqual([id]);
  });
});
