// What a run waits for is written when its worker lets it go, and deleted by whatever moves, stops or ends it.

import { describe, expect, it } from '@jest/globals';
import {
  listExecutions,
  pauseExecutions,
  removeExecutions,
  requestCancel,
  resumeExecutions,
  retryExecution,
  sendSignals,
} from '../../libs/store/index.js';
import { HeldTasks } from '../faults/steps.js';
import { eventually, waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';
import { complete } from './random-tasks.js';
import { waitingOf, wrongRows } from './waiting-rows.js';

const RACE = `async function paid() {
  return await Promise.race([Signal.when('paid'), Timer.sleep('1h')]);
}
await Task.run('quick');
let mail = Task.run('never');
return await paid();`;
const ROWS_OF_RACE = [
  { kind: 'signal', name: 'paid', line: 2, function: 'paid', calls: 1 },
  { kind: 'timer', name: '', line: 2, function: 'paid', calls: 1 },
];

describe('what a run waits for', () => {
  const kit = useHarness();
  const quick = () => 1;

  /** A run whose task nobody has, so that nothing of it is in place. */
  async function racing(): Promise<{ harness: Harness; id: string }> {
    const harness = await kit.open({ flows: { f: RACE, g: `throw new Error(await Signal.when('x'));` }, tasks: { quick } });
    await harness.engine();
    const id = await harness.start('f');
    await eventually(async () => expect(await waitingOf(harness, id)).toEqual(ROWS_OF_RACE));
    return { harness, id };
  }
  const signal = async ({ store }: Harness, executionId: string, name: string) => {
    await sendSignals(store.db, [{ executionId, name, payload: '"now"' }]);
    store.hints.hint('work', 'default');
  };

  it('is written with its line and its function, and deleted by the turn that ends the run', async () => {
    const { harness, id } = await racing();
    expect(await wrongRows(harness)).toEqual([]);
    await signal(harness, id, 'paid');
    expect((await harness.ended(id)).value).toBe('now');
    expect(await harness.count('waiting')).toBe(0);
  });

  it('is deleted by a pause, and is a worker after the resume until the run has taken a turn', async () => {
    const { harness, id } = await racing();
    await pauseExecutions(harness.store.db, [id]);
    expect(await waitingOf(harness, id)).toEqual([]);
    const locked = harness.store.db.transaction(async (tx) => {
      expect(await resumeExecutions(tx, [id])).toEqual([id]);
      const rows = await tx.rows({ name: 'spec', text: 'SELECT kind, name, line FROM rhythm.waiting' });
      expect(rows).toEqual([{ kind: 'worker', name: '', line: null }]);
    });
    await locked;
    harness.store.hints.hint('work', 'default');
    await eventually(async () => expect(await waitingOf(harness, id)).toEqual(ROWS_OF_RACE));
    expect(await wrongRows(harness)).toEqual([]);
  });

  it('is deleted by a cancel', async () => {
    const { harness, id } = await racing();
    await requestCancel(harness.store.db, [id]);
    harness.store.hints.hint('work', 'default');
    expect((await harness.ended(id)).status).toBe('cancelled');
    expect(await harness.count('waiting')).toBe(0);
  });

  it('is deleted by a failure, is a worker after the retry, and is gone with the run', async () => {
    const { harness } = await racing();
    const id = await harness.start('g');
    await waitFor('it to wait', async () => (await waitingOf(harness, id)).length === 1);
    await signal(harness, id, 'x');
    expect((await harness.ended(id)).status).toBe('failed');
    expect(await waitingOf(harness, id)).toEqual([]);
    await harness.store.db.transaction(async (tx) => {
      expect(await retryExecution(tx, id)).toBe(true);
      const rows = await tx.rows({ name: 'spec', text: `SELECT kind FROM rhythm.waiting WHERE execution_id = '${id}'` });
      expect(rows).toEqual([{ kind: 'worker' }]);
    });
    harness.store.hints.hint('work', 'default');
    await harness.ended(id);
    expect(await waitingOf(harness, id)).toEqual([]);
    expect(await wrongRows(harness)).toEqual([]);
    expect(await removeExecutions(harness.store.db, [id])).toEqual([id]);
  });

  it('is deleted when its time limit ends a run', async () => {
    const harness = await kit.open({ flows: { f: `await Signal.when('never');` } });
    await harness.engine();
    const id = await harness.start('f', undefined, { options: { totalTimeoutMs: 3_600_000 } });
    await waitFor('it to wait', async () => (await waitingOf(harness, id)).length === 1);
    await harness.query(`UPDATE rhythm.scheduled_queue SET due_at = now() WHERE kind = 'deadline'`);
    expect((await harness.ended(id)).status).toBe('failed');
    expect(await harness.count('waiting')).toBe(0);
  });

  it.each([1000, 0])('is nothing that steps in place ever write or delete, with %i steps kept', async (maxSteps) => {
    const harness = await kit.open({
      flows: { f: `let sum = 0; for (let i = 0; i < 20; i++) sum += await Task.run('quick'); return sum;` },
      tasks: { quick },
      engine: { maxSteps },
    });
    await harness.query(
      `CREATE FUNCTION rhythm.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'waiting is touched'; END $$`,
    );
    await harness.query(
      `CREATE TRIGGER refuse BEFORE INSERT OR DELETE OR UPDATE ON rhythm.waiting FOR EACH STATEMENT EXECUTE FUNCTION rhythm.refuse()`,
    );
    try {
      await harness.engine();
      expect((await harness.ended(await harness.start('f'))).value).toBe(20);
    } finally {
      await harness.query('DROP FUNCTION rhythm.refuse CASCADE');
    }
  });

  it('is written when a step has run in place for a second, with what else the run waits for', async () => {
    const held = new HeldTasks();
    const harness = await kit.open({
      flows: {
        f: `\nlet done = await Promise.race([\n  Task.run('hold'), Signal.when('stop')]);\nreturn [done, await Task.run('quick')];`,
      },
      tasks: { hold: held.hold, quick },
    });
    await harness.engine();
    const id = await harness.start('f');
    await held.began(`${id}:1`);
    expect(await harness.count('waiting')).toBe(0);
    expect((await listExecutions(harness.store.db, { status: 'suspended' })).items.map((one) => one.id)).toEqual([id]);
    await eventually(async () =>
      expect(await waitingOf(harness, id)).toEqual([
        { kind: 'task', name: 'hold', line: 2, function: expect.any(String), calls: 1 },
        { kind: 'signal', name: 'stop', line: 2, function: expect.any(String), calls: 1 },
      ]),
    );
    expect(await harness.count('executions', `type = 'task'`)).toBe(1);
    held.end(`${id}:1`, 'held');
    expect((await harness.ended(id)).value).toEqual(['held', 1]);
    expect(await harness.count('waiting')).toBe(0);
  });

  it('is one row for a fan-out of one task, and at most eight', async () => {
    const many = Array.from({ length: 12 }, (_, n) => `Signal.when('s${n}')`);
    const harness = await kit.open({
      flows: {
        fan: `let all = [];\nfor (let i = 0; i < 200; i++) all.push(Task.run('nobody', i));\nawait Promise.all(all);`,
        many: `await Promise.all([${many}]);`,
        long: `await Signal.when('語'.repeat(200));`,
        parent: `await Workflow.run('long');`,
      },
    });
    await harness.engine();
    const ids: Record<string, string> = {};
    for (const name of ['fan', 'many', 'parent']) ids[name] = await harness.start(name);
    const of = async (name: string, length: number) => {
      await waitFor(`${name} to wait`, async () => (await waitingOf(harness, ids[name])).length === length);
      return waitingOf(harness, ids[name]);
    };
    expect(await of('fan', 1)).toMatchObject([{ kind: 'task', name: 'nobody', line: 3, calls: 200 }]);
    expect((await of('many', 8)).map(({ name }) => name)).toEqual(['s0', 's1', 's2', 's3', 's4', 's5', 's6', 's7']);
    expect(await of('parent', 1)).toMatchObject([{ kind: 'child', name: 'long', line: 1 }]);
    ids.long = `${ids.parent}:1`;
    const [{ name }] = await of('long', 1);
    // The longest that a flow may write.
    expect(name).toBe('語'.repeat(200));
    const found = await listExecutions(harness.store.db, { waitsFor: { kind: 'signal', name } });
    expect(found.items.map((one) => one.id)).toEqual([ids.long]);
    expect((await listExecutions(harness.store.db, { waitsFor: { kind: 'signal', name: '語'.repeat(199) } })).items).toEqual([]);
    expect((await listExecutions(harness.store.db, { parentId: ids.parent, waitsFor: { kind: 'signal' } })).items).toHaveLength(1);
    expect(await wrongRows(harness)).toEqual([]);
  });

  it('is what something resolves, when nothing awaits a call directly', async () => {
    const harness = await kit.open({
      flows: { f: `let go = Promise.withResolvers();\nSignal.when('go').then(go.resolve);\nreturn await go.promise;` },
    });
    await harness.engine();
    const id = await harness.start('f');
    await eventually(async () =>
      expect(await waitingOf(harness, id)).toEqual([{ kind: 'signal', name: 'go', line: null, function: null, calls: 1 }]),
    );
    await signal(harness, id, 'go');
    expect((await harness.ended(id)).value).toBe('now');
  });

  it('is its completion, for a task that was handed over', async () => {
    let token = '';
    const harness = await kit.open({
      flows: { f: `return await Task.run('later');` },
      tasks: {
        later: async (_, context) => {
          token = await context.completeLater();
        },
      },
    });
    await harness.engine();
    const id = await harness.start('f');
    const step = `${id}:1`;
    await waitFor('it to be handed over', async () => (await waitingOf(harness, step)).length === 1);
    expect(await waitingOf(harness, step)).toMatchObject([{ kind: 'completion', name: 'later', line: null }]);
    await pauseExecutions(harness.store.db, [step]);
    expect(await waitingOf(harness, step)).toEqual([]);
    await resumeExecutions(harness.store.db, [step]);
    expect(await waitingOf(harness, step)).toMatchObject([{ kind: 'completion', name: 'later' }]);
    await eventually(async () =>
      expect((await listExecutions(harness.store.db, { status: 'suspended' })).items.map((one) => one.id).sort()).toEqual([id, step]),
    );
    await complete(harness.store, token, 'done');
    expect((await harness.ended(id)).value).toBe('done');
    expect(await harness.count('waiting')).toBe(0);
  });
});
