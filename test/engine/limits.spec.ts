// A turn that ends in a limit commits its error and its log lines and nothing else, so that a retry repeats it.

import { describe, expect, it } from '@jest/globals';
import { readHistory, readTree, requestCancel, retryExecution, sendSignals } from '../../libs/store/index.js';
import { eventually, waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

const LITTLE = { fuelPerTurn: 100_000 };
const PLENTY = { fuelPerTurn: 50_000_000 };
// More than the one, less than the other.
const BURN = 'for (let i = 0; i < 50_000; i++) {}';
const OUT_OF_FUEL = { name: 'LimitError', code: 'FLOW_LIMIT_FUEL' };

async function retry(harness: Harness, id: string): Promise<void> {
  await harness.store.db.transaction((tx) => retryExecution(tx, id));
  harness.store.hints.hint('work', 'default');
}

async function idsOf(harness: Harness, id: string): Promise<string[]> {
  return (await readTree(harness.store.db, id)).map((node) => node.id).sort();
}

/** The run's state as it is stored. */
async function stateOf(harness: Harness, id: string): Promise<unknown> {
  const [row] = await harness.query(`SELECT snapshot, calls, turns, pending FROM rhythm.executions WHERE id = $1`, [id]);
  return row;
}

/** The runs that have failed so far, as events tell it. */
function failures(harness: Harness): string[] {
  return harness.events.flatMap((event) => (event.type === 'finished' && event.status === 'failed' ? [event.executionId] : []));
}

describe('a turn that ends in a limit', () => {
  const kit = useHarness();

  it('starts nothing when it is the first one, keeps its log lines, and a retry repeats it with the same call numbers', async () => {
    const harness = await kit.open({
      flows: {
        f: `console.log('before'); for (let i = 0; i < 100; i++) Task.run('echo', i);
          const child = Workflow.run('g', undefined, { id: 'own' }); Workflow.run('g', undefined, { detached: true });
          const late = Timer.sleep('1h'); ${BURN} return await child;`,
        g: `return 7;`,
      },
      tasks: { echo: (input: number) => input },
    });
    const small = await harness.engine({}, undefined, undefined, LITTLE);
    const id = await harness.start('f');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: OUT_OF_FUEL });
    expect(await harness.count('executions')).toBe(1);
    expect(await harness.count('scheduled_queue')).toBe(0);
    expect(await harness.count('work_queue')).toBe(0);
    expect(await stateOf(harness, id)).toEqual({ snapshot: null, calls: 0, turns: null, pending: null });
    expect((await readHistory(harness.store.db, id)).filter(({ kind }) => kind === 'log')).toMatchObject([
      { detail: { message: 'before' } },
    ]);
    expect(failures(harness)).toEqual([id]);

    await small.stop();
    await harness.engine({}, undefined, undefined, PLENTY);
    await retry(harness, id);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 7 });
    expect(await harness.count('executions', `parent_id = '${id}' AND type = 'task' AND parent_call BETWEEN 1 AND 100`)).toBe(100);
    expect(await harness.count('executions', `parent_id = '${id}' AND type = 'task'`)).toBe(100);
    expect(await harness.count('executions', `parent_id = '${id}' AND type = 'workflow'`)).toBe(2);
  });

  it('keeps the signals and results that it consumed, and its state', async () => {
    const harness = await kit.open({
      flows: {
        f: `const name = await Signal.when('go'); Task.run('note', name); const late = Timer.sleep('1h'); late.cancel();
          ${BURN} return [name, await Task.run('echo', 'end')];`,
      },
      tasks: { note: () => 1, echo: (input: string) => input },
    });
    const small = await harness.engine({}, undefined, undefined, LITTLE);
    const id = await harness.start('f');
    await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
    const before = await stateOf(harness, id);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"me"' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: OUT_OF_FUEL });
    expect(await stateOf(harness, id)).toEqual(before);
    expect(await harness.count('signals')).toBe(1);
    expect(await idsOf(harness, id)).toEqual([id]);
    const kinds = (await readHistory(harness.store.db, id)).map(({ kind }) => kind);
    expect(kinds).not.toContain('signal-taken');

    await retry(harness, id);
    await eventually(async () => expect(failures(harness)).toEqual([id, id]));
    expect(await stateOf(harness, id)).toEqual(before);
    await small.stop();

    await harness.engine({}, undefined, undefined, PLENTY);
    await retry(harness, id);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: ['me', 'end'] });
    await eventually(async () => expect(await idsOf(harness, id)).toEqual([id, `${id}:2`, `${id}:4`]));
    expect(await harness.count('signals')).toBe(0);
  });

  it('leaves the steps in place that others than itself started, and the result that it consumed', async () => {
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const runs: string[] = [];
    const harness = await kit.open({
      flows: {
        f: `const slow = Task.run('slow'); await Task.run('echo', 1); slow.cancel(); Task.run('echo', 2); ${BURN} return await slow;`,
      },
      tasks: {
        slow: async () => {
          runs.push('slow');
          await released;
          return 'not cancelled';
        },
        echo: (input: number) => void runs.push(`echo ${input}`),
      },
    });
    const small = await harness.engine({}, undefined, undefined, LITTLE);
    const id = await harness.start('f');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: OUT_OF_FUEL });
    expect(await idsOf(harness, id)).toEqual([id, `${id}:1`, `${id}:2`]);
    release();
    await waitFor('the step to end', async () => (await harness.status(`${id}:1`)) === 'completed');
    await small.stop();
    await harness.engine({}, undefined, undefined, PLENTY);
    await retry(harness, id);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'not cancelled' });
    await waitFor('the last task', () => runs.includes('echo 2'));
    expect(runs.sort()).toEqual(['echo 1', 'echo 2', 'slow']);
  });

  it('ends a run that is being cancelled, in the turn of the cancel and in a later one', async () => {
    const harness = await kit.open({
      flows: {
        now: `try { await Signal.when('never') } finally { Task.run('echo'); ${BURN} }`,
        later: `try { await Signal.when('never') } finally { await Task.run('echo'); Task.run('echo'); ${BURN} }`,
      },
      tasks: { echo: () => 1 },
      limits: LITTLE,
    });
    await harness.engine();
    for (const [name, children] of [
      ['now', []],
      ['later', ['2']],
    ] as const) {
      const id = await harness.start(name);
      await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
      await requestCancel(harness.store.db, [id]);
      expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: OUT_OF_FUEL });
      expect(await idsOf(harness, id)).toEqual([id, ...children.map((call) => `${id}:${call}`)]);
      expect(await harness.count('scheduled_queue', `execution_id = '${id}'`)).toBe(0);
    }
  });

  it('tells the parent of the run, whose retry takes the outcome of the repeated turn', async () => {
    const harness = await kit.open({
      flows: { parent: `return await Workflow.run('f');`, f: `Task.run('echo'); ${BURN} return 'done';` },
      tasks: { echo: () => 1 },
    });
    const small = await harness.engine({}, undefined, undefined, LITTLE);
    const id = await harness.start('parent');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { name: 'WorkflowError' } });
    await small.stop();
    await harness.engine({}, undefined, undefined, PLENTY);
    await retry(harness, id);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'done' });
    await eventually(async () => expect(await idsOf(harness, id)).toEqual([id, `${id}:1`, `${id}:1:1`]));
  });

  it('by its snapshot or its pending calls commits as little', async () => {
    const harness = await kit.open({
      flows: {
        large: `const s = 'x'.repeat(200_000); Task.run('echo'); await Timer.sleep('1h'); return s;`,
        many: `for (let i = 0; i < 1e6; i++) Task.run('echo');`,
      },
      tasks: { echo: () => 1 },
      limits: { snapshotBytes: 100_000 },
    });
    await harness.engine();
    for (const [name, code] of [
      ['large', 'FLOW_LIMIT_SNAPSHOT'],
      ['many', 'FLOW_LIMIT_PENDING_EFFECTS'],
    ]) {
      const id = await harness.start(name);
      expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { code } });
      expect(await idsOf(harness, id)).toEqual([id]);
      expect(await harness.count('scheduled_queue')).toBe(0);
    }
  });

  it('is unlike one that throws, whose effects are committed', async () => {
    const harness = await kit.open({
      flows: { f: `Task.run('echo'); throw new Error('own');` },
      tasks: { echo: () => 1 },
      limits: LITTLE,
    });
    await harness.engine();
    const id = await harness.start('f');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { message: 'own' } });
    expect(await idsOf(harness, id)).toEqual([id, `${id}:1`]);
  });
});
