// The history of a run shows what became of its signals, waits and timers.

import { describe, expect, it } from '@jest/globals';
import { readHistory, sendSignals } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

describe('the history of a run', () => {
  const kit = useHarness();
  const kinds = ['signal-sent', 'signal-taken', 'wait-set', 'wait-timed-out', 'wait-muted', 'timer-set', 'timer-fired', 'withdrawn'];
  const notesOf = async (harness: Harness, id: string) =>
    (await readHistory(harness.store.db, id))
      .filter(({ kind }) => kinds.includes(kind))
      .map(({ kind, detail }) => ({ kind, ...(detail as object) }));
  const send = (harness: Harness, executionId: string, name: string) => sendSignals(harness.store.db, [{ executionId, name }]);

  it('shows signals sent and taken, timers set and fired, and what lost its race', async () => {
    const harness = await kit.open({
      flows: {
        f: `await Timer.sleep(20);
          await Promise.race([Signal.when('paid').then(() => 'paid'), Signal.when('go')]);
          try { await Signal.when('never', { timeout: 20 }); } catch {}
          await Promise.race([Signal.when('end'), Timer.sleep('1h')]);`,
      },
    });
    await harness.engine();
    const id = await harness.start('f');
    await waitFor('the waits', async () => (await notesOf(harness, id)).filter(({ kind }) => kind === 'wait-set').length >= 2);
    await send(harness, id, 'unasked');
    await send(harness, id, 'go');
    await waitFor('the last wait', async () => (await notesOf(harness, id)).filter(({ kind }) => kind === 'wait-set').length === 4);
    await send(harness, id, 'end');
    await harness.ended(id);
    const notes = await notesOf(harness, id);
    expect(notes).toEqual(
      expect.arrayContaining([
        { kind: 'timer-set', call: 1, delayMs: 20 },
        { kind: 'timer-fired', call: 1 },
        { kind: 'wait-set', call: 2, signal: 'paid' },
        { kind: 'signal-sent', signal: 'unasked' },
        { kind: 'signal-sent', signal: 'go' },
        { kind: 'signal-taken', signal: 'go', call: 3 },
        { kind: 'withdrawn', call: 2, reason: 'lost' },
        { kind: 'wait-set', call: 4, signal: 'never', timeoutMs: 20 },
        { kind: 'wait-timed-out', call: 4 },
        { kind: 'signal-taken', signal: 'end', call: 5 },
        { kind: 'timer-set', call: 6, delayMs: 3_600_000 },
      ]),
    );
    const order = notes.map(({ kind }) => kind);
    expect(order.indexOf('timer-set')).toBeLessThan(order.indexOf('timer-fired'));
    expect(order.indexOf('signal-sent')).toBeLessThan(order.indexOf('signal-taken'));
    expect(notes.filter(({ kind }) => kind === 'signal-sent')).toHaveLength(3);
  });

  it('shows steps in place after the start of their run, and one after the other', async () => {
    const harness = await kit.open({
      flows: { f: `for (let n = 0; n < 3; n++) await Task.run('t');` },
      tasks: { t: () => new Promise((resolve) => setImmediate(resolve)) },
    });
    await harness.engine();
    const expected = [
      'created',
      'started',
      ...[1, 2, 3].flatMap((n) => ['created', 'started', 'completed'].map((kind) => `step-${kind} ${n}`)),
    ];
    let runs = 0;
    for (let n = 0; n < 40; n++) {
      const id = await harness.start('f');
      await harness.ended(id);
      // While a claim is in flight its slots are not free, and a step goes through the queue.
      if ((await harness.count('steps', `execution_id = '${id}'`)) < 3) continue;
      runs++;
      const entries = await readHistory(harness.store.db, id);
      expect(entries.map(({ kind, executionId }) => `${kind} ${executionId.slice(id.length + 1)}`.trim())).toEqual([
        ...expected,
        'completed',
      ]);
    }
    expect(runs).toBeGreaterThan(20);
  });

  it('shows a signal that no wait has taken yet', async () => {
    const harness = await kit.open({ flows: { f: `await Signal.when('other');` } });
    await harness.engine();
    const id = await harness.start('f');
    await waitFor('the wait', async () => (await notesOf(harness, id)).length === 1);
    await send(harness, id, 'early');
    await waitFor('the signal', async () => (await notesOf(harness, id)).some(({ kind }) => kind === 'signal-sent'));
    expect(await notesOf(harness, id)).toContainEqual({ kind: 'signal-sent', signal: 'early' });
  });

  it('keeps no more than it may, and nothing at all where nothing is kept', async () => {
    const flow = `for (let n = 0; n < 15; n++) await Timer.sleep(1);`;
    const harness = await kit.open({ flows: { f: flow } });
    const bounded = await harness.engine({ maxSteps: 10 });
    const id = await harness.start('f');
    await harness.ended(id);
    // What the last turn noted comes on top.
    expect((await notesOf(harness, id)).length).toBeLessThanOrEqual(10 + 2);
    await bounded.stop();
    await harness.engine({ maxSteps: 0 });
    const none = await harness.start('f');
    await harness.ended(none);
    expect(await notesOf(harness, none)).toEqual([]);
  });
});
