// The states that runs keep of their last turns: which, with what, and until when.

import { describe, expect, it } from '@jest/globals';
import type { SnapshotStore } from '../../libs/engine/index.js';
import { listKeptStates, readKeptState, removeExecutions, retryExecution, sendSignals } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

const COUNTS = `for (let i = 1; i <= 6; i++) await Task.run('t', { i }); await Signal.when('go'); return 'done';`;
const ALL_KINDS = `
  const quick = Task.run('quick', { a: 1 }, { priority: 3, idempotencyKey: 'k-1' });
  const later = Task.run('later', 'text \\u0000 with NUL', { delay: '1h', retry: { maxAttempts: 7 } });
  const child = Workflow.run('child', [1, 2], { id: 'child-of-' + Context.executionId });
  const numbered = Workflow.run('child');
  const nap = Timer.sleep('2h');
  const bounded = Signal.when('bounded', { timeout: '3h' });
  const free = Signal.when('free');
  await Signal.when('first');
  await Signal.when('second');
  return await Promise.all([quick, later, child, numbered, nap, bounded, free]);`;
const FLOWS = { counts: COUNTS, kinds: ALL_KINDS, child: `await Signal.when('never'); return 1;` };

describe('kept states', () => {
  const kit = useHarness();
  const turnsOf = async (harness: Harness, id: string) => (await listKeptStates(harness.store.db, id, 100)).map(({ turn }) => turn);
  const waitsFor = (harness: Harness, id: string, snapshot: string) =>
    waitFor(`${id} to wait for ${snapshot}`, async () => {
      const [run] = await harness.query<{ snapshot: string | null }>('SELECT snapshot FROM rhythm.executions WHERE id = $1', [id]);
      return run.snapshot?.includes(`"${snapshot}"`);
    });

  it('are none unless they are asked for', async () => {
    const harness = await kit.open({ flows: FLOWS, tasks: { t: () => 1 } });
    await harness.engine();
    const id = await harness.start('counts');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    await harness.ended(id);
    expect(await harness.count('snapshots')).toBe(0);
  });

  it.each([
    ['in place', 16],
    ['with rows', 0],
  ])('are the last ones of each run, whose steps are %s, and stay after its end until it is removed', async (_, stepsInPlace) => {
    const harness = await kit.open({ flows: FLOWS, tasks: { t: () => 1 }, engine: { maxSnapshots: 3, stepsInPlace } });
    await harness.engine();
    const id = await harness.start('counts');
    await waitsFor(harness, id, 'go');
    // The first turn starts step 1, the seventh consumes the last result and waits for the signal.
    expect(await turnsOf(harness, id)).toEqual([7, 6, 5]);
    const [run] = await harness.query<{ snapshot: string; turns: number }>('SELECT snapshot, turns FROM rhythm.executions WHERE id = $1', [
      id,
    ]);
    const newest = await readKeptState(harness.store.db, id, 7);
    expect([run.turns, newest?.snapshot]).toEqual([7, run.snapshot]);
    expect((await readKeptState(harness.store.db, id, 5))?.pendingCalls).toMatchObject([
      { call: 5, kind: 'task', name: 't', input: '{"i":5}' },
    ]);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    await harness.ended(id);
    expect(await turnsOf(harness, id)).toEqual([7, 6, 5]);
    expect(await removeExecutions(harness.store.db, [id])).toContain(id);
    expect(await harness.count('snapshots')).toBe(0);
  });

  it.each([
    ['by the worker that saw them made', {}],
    ['by a worker that has the run from the database', { cachedRuns: 0 }],
  ])('have every pending call with its input and options, written %s', async (_, options) => {
    let end = () => {};
    const quick = () =>
      new Promise((resolve) => {
        end = () => resolve(1);
      });
    const harness = await kit.open({ flows: FLOWS, tasks: { quick, later: () => 1 }, engine: { maxSnapshots: 10, ...options } });
    await harness.engine();
    const id = await harness.start('kinds');
    await waitsFor(harness, id, 'first');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'first' }]);
    await waitsFor(harness, id, 'second');
    const [last] = await listKeptStates(harness.store.db, id, 1);
    expect(last.turn).toBe(2);
    const hours = (n: number) => last.storedAt.getTime() + n * 3_600_000;
    const at = (call: number) => last.pendingCalls.find((each) => each.call === call);
    expect(last.pendingCalls.map(({ call, kind, name }) => [call, kind, name])).toEqual([
      [1, 'task', 'quick'],
      [2, 'task', 'later'],
      [3, 'workflow', 'child'],
      [4, 'workflow', 'child'],
      [5, 'timer', expect.anything()],
      [6, 'wait', 'bounded'],
      [7, 'wait', 'free'],
      [9, 'wait', 'second'],
    ]);
    expect(at(1)).toMatchObject({ queue: 'default', priority: 3, input: '{"a":1}', options: { idempotencyKey: 'k-1' } });
    expect(at(2)).toMatchObject({
      id: `${id}:2`,
      input: '"text \\u0000 with NUL"',
      options: { delayMs: 3_600_000, retry: { maxAttempts: 7 } },
    });
    expect(at(3)).toMatchObject({ id: `child-of-${id}`, input: '[1,2]', version: expect.any(String) });
    expect(at(4)).toMatchObject({ id: `${id}:4` });
    expect(at(4)).not.toHaveProperty('input');
    expect(Math.abs(Number(at(5)?.dueAt) - hours(2))).toBeLessThan(60_000);
    expect(Math.abs(Number(at(6)?.dueAt) - hours(3))).toBeLessThan(60_000);
    expect(at(7)).toEqual({ call: 7, kind: 'wait', name: 'free' });
    end();
  });

  it('are complete of a run that began when none were kept', async () => {
    const harness = await kit.open({ flows: FLOWS, tasks: { quick: () => new Promise(() => undefined), later: () => 1 } });
    const before = await harness.engine({ shutdownGraceMs: 50 });
    const id = await harness.start('kinds');
    await waitsFor(harness, id, 'first');
    await before.stop();
    await harness.engine({ maxSnapshots: 1, shutdownGraceMs: 50 });
    await sendSignals(harness.store.db, [{ executionId: id, name: 'first' }]);
    await waitsFor(harness, id, 'second');
    const [{ turn, pendingCalls }] = await listKeptStates(harness.store.db, id, 10);
    expect(turn).toBe(2);
    expect(pendingCalls[0]).toMatchObject({ call: 1, input: '{"a":1}', options: { idempotencyKey: 'k-1' } });
    expect(pendingCalls.map(({ call }) => call)).toEqual([1, 2, 3, 4, 5, 6, 7, 9]);
  });

  it('of a large run stay in the snapshot store as long as they are kept', async () => {
    const files = new Map<string, string>();
    const snapshots: SnapshotStore = {
      thresholdBytes: 1_000,
      put: async (name, text) => {
        files.set(name, text);
        return name;
      },
      get: async (name) => files.get(name),
      remove: async (name) => void files.delete(name),
    };
    const flow = `const big = 'x'.repeat(2000); for (let i = 0; i < 5; i++) await Task.run('t', i); await Signal.when('go'); return big.length;`;
    const harness = await kit.open({ flows: { large: flow }, tasks: { t: () => 1 }, snapshots, engine: { maxSnapshots: 2 } });
    await harness.engine();
    const id = await harness.start('large');
    await waitFor('the last step', async () => (await turnsOf(harness, id))[0] === 6);
    await waitFor('the removal of what is not kept', () => files.size === 2);
    for (const turn of [6, 5]) {
      const kept = await readKeptState(harness.store.db, id, turn);
      expect([kept?.snapshot, files.get(kept?.snapshotRef ?? '')]).toEqual([null, expect.stringContaining('xxx')]);
    }
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    expect((await harness.ended(id)).value).toBe(2_000);
    expect(files.size).toBe(2);
  });

  it('are numbered like the turns that started and consumed steps', async () => {
    const harness = await kit.open({ flows: FLOWS, tasks: { t: () => 1 }, engine: { maxSnapshots: 1 } });
    await harness.engine();
    const id = await harness.start('counts');
    await waitsFor(harness, id, 'go');
    expect(
      await harness.query('SELECT call, started_turn, consumed_turn FROM rhythm.steps WHERE execution_id = $1 ORDER BY call', [id]),
    ).toEqual([1, 2, 3, 4, 5, 6].map((call) => ({ call, started_turn: call, consumed_turn: call + 1 })));
  });

  it('do not count a turn that failed', async () => {
    let isBroken = true;
    const t = () => {
      if (isBroken) throw new Error('broken');
      return 1;
    };
    const harness = await kit.open({
      flows: { f: `await Task.run('ok'); await Task.run('t'); await Signal.when('go');` },
      tasks: { t, ok: () => 1 },
      engine: { maxSnapshots: 5 },
    });
    await harness.engine();
    const id = await harness.start('f');
    expect((await harness.ended(id)).status).toBe('failed');
    expect(await turnsOf(harness, id)).toEqual([2, 1]);
    isBroken = false;
    await harness.store.db.transaction((tx) => retryExecution(tx, id));
    await waitsFor(harness, id, 'go');
    // One that finds nothing new, because the step runs again first, counts.
    expect((await turnsOf(harness, id)).reverse().slice(0, 3)).toEqual([1, 2, 3]);
  });
});
