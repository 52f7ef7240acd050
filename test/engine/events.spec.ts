// The one event stream: what telemetry, logs and tests read about an execution, and nothing made when nobody listens.

import { describe, expect, it } from '@jest/globals';
import type { EngineEvent } from '../../libs/engine/index.js';
import { sendSignals } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const FLOW = `
  const a = await Task.run("charge", 1);
  await Timer.sleep(20);
  const b = await Signal.when("go");
  return [a, b];
`;

describe('the events of an execution', () => {
  const { open } = useHarness();

  it('say what it is, what it waits for, and how it ended', async () => {
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
    expect(of('resumed', id).length).toBeGreaterThanOrEqual(1);
  });

  it('tell of an end by a time limit like of any other', async () => {
    const harness = await open({ tasks: { slow: () => new Promise(() => undefined) }, policies: { slow: { totalTimeoutMs: 50 } } });
    await harness.engine();
    const id = await harness.start('slow', undefined, { options: { totalTimeoutMs: 50 } });
    const finished = await waitFor('its end', () => harness.events.find((event) => event.type === 'finished'));
    expect(finished).toMatchObject({ executionId: id, name: 'slow', kind: 'task', queue: 'default', status: 'failed' });
  });

  it('reach a listener of their type only, and are not made when there is none', async () => {
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
