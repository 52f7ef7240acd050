// What people do to executions: cancel, pause, resume, retry, remove.

import { describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import {
  ANY,
  getExecution,
  listExecutions,
  pauseExecutions,
  readTree,
  removeExecutions,
  requestCancel,
  resumeExecutions,
  retryExecution,
  Store,
  sendSignals,
  sql,
} from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

const hang = (_: unknown, context: TaskContext) =>
  new Promise((_resolve, reject) => context.signal.addEventListener('abort', () => reject(context.signal.reason)));

describe('cancel', () => {
  const kit = useHarness();

  it('ends a waiting task, and stops a running one wherever it runs', async () => {
    const reasons: string[] = [];
    const harness = await kit.open({
      tasks: {
        hang: (_: unknown, context: TaskContext) =>
          new Promise((_resolve, reject) =>
            context.signal.addEventListener('abort', () => {
              reasons.push((context.signal.reason as Error).message);
              reject(context.signal.reason);
            }),
          ),
      },
    });
    const waiting = await harness.start('hang', undefined, { queue: 'later' });
    await harness.engine();
    const running = await harness.start('hang');
    await waitFor('the task to run', async () => (await harness.status(running)) === 'running');
    await harness.engine({ queues: ['later'] });
    await requestCancel(harness.store.db, [waiting, running], 'enough');
    expect(await harness.ended(running)).toMatchObject({ status: 'cancelled', error: { name: 'CancelledError', message: 'enough' } });
    expect(await harness.ended(waiting)).toMatchObject({ status: 'cancelled' });
    await waitFor('the running task to hear of it', () => reasons.length > 0);
    expect(await harness.count('inbox')).toBe(0);
  });

  it('reaches the flow, which may clean up, and every child', async () => {
    const cleaned: unknown[] = [];
    const harness = await kit.open({
      flows: {
        parent: `
          try {
            await Promise.all([Task.run('hang'), Workflow.run('child'), Timer.sleep('1h')]);
          } catch (e) {
            await Task.run('clean', e.name);
            throw e;
          }
        `,
        child: `await Signal.when('never');`,
      },
      tasks: { hang, clean: (name: unknown) => void cleaned.push(name) },
    });
    await harness.engine();
    const id = await harness.start('parent');
    await waitFor('the child to wait', async () => (await getExecution(harness.store.db, `${id}:2`))?.status === 'suspended');
    await requestCancel(harness.store.db, [id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled' });
    expect(cleaned).toEqual(['CancelledError']);
    expect(await harness.ended(`${id}:1`)).toMatchObject({ status: 'cancelled' });
    expect(await harness.ended(`${id}:2`)).toMatchObject({ status: 'cancelled' });
    expect((await listExecutions(harness.store.db, { status: 'cancelled' })).items.map((item) => item.id).sort()).toEqual(
      [id, `${id}:1`, `${id}:2`].sort(),
    );
    await waitFor(
      'nothing to be left',
      async () =>
        (await harness.count('inbox')) + (await harness.count('scheduled_queue')) + (await harness.count('workflow_execution_context')) ===
        0,
    );
  });

  it('of a run that never began runs nothing of it', async () => {
    const harness = await kit.open({ flows: { f: `await Task.run('never'); return 1;` } });
    const id = await harness.start('f');
    await requestCancel(harness.store.db, [id], 'too early');
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { message: 'too early' } });
    expect(await harness.count('executions', `parent_id = '${id}'`)).toBe(0);
  });

  it('bounds the clean-up by the grace period', async () => {
    const harness = await kit.open({
      flows: { stubborn: `try { await Signal.when('a'); } catch { await Signal.when('b'); }` },
      engine: { cancelGraceMs: 80 },
    });
    await harness.engine();
    const id = await harness.start('stubborn');
    await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
    await requestCancel(harness.store.db, [id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { message: expect.stringContaining('clean up') } });
  });

  it('leaves nothing of a run that is quarantined while it cleans up', async () => {
    const harness = await kit.open({ flows: { stubborn: `try { await Signal.when('a'); } catch { await Signal.when('b'); }` } });
    await harness.engine();
    const id = await harness.start('stubborn');
    await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
    await requestCancel(harness.store.db, [id]);
    await waitFor('the clean-up', () => harness.count('scheduled_queue', `kind = 'grace'`));
    await harness.query('UPDATE rhythm.executions SET crashes = 99 WHERE id = $1', [id]);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'c' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { code: 'RHYTHM_QUARANTINED' } });
    for (const table of ['workflow_execution_context', 'scheduled_queue', 'signals', 'inbox']) expect(await harness.count(table)).toBe(0);
  });

  it('in one turn with an answer starts nothing that the flow asks for in between, and undoes what was done', async () => {
    const did: string[] = [];
    let reserve = () => {};
    const harness = await kit.open({
      flows: {
        order: `
          const undo = [];
          try {
            for (const what of ['reserve', 'charge']) {
              await Task.run('step', what);
              undo.push(what);
            }
          } catch (e) {
            for (const what of undo) await Task.run('step', 'undo ' + what);
            throw e;
          }
        `,
      },
      tasks: {
        step: async (what: string) => {
          if (what === 'reserve') await new Promise<void>((resolve) => (reserve = resolve));
          did.push(what);
        },
      },
    });
    await harness.engine();
    const id = await harness.start('order');
    await waitFor('the first step to run', async () => (await harness.status(`${id}:1`)) === 'running');
    // While it is paused the answer waits; the cancel then wakes it for both.
    await pauseExecutions(harness.store.db, [id]);
    reserve();
    await harness.ended(`${id}:1`);
    await requestCancel(harness.store.db, [id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { name: 'CancelledError' } });
    expect(did).toEqual(['reserve', 'undo reserve']);
    expect(await harness.count('executions', `parent_id = '${id}'`)).toBe(2);
  });

  it.each([
    ['after a signal that ends the run comes too late', ['signal', 'cancel'], { status: 'completed', value: 'done', cancelledAt: null }],
    ['before that signal comes in time', ['cancel', 'signal'], { status: 'cancelled', error: { message: 'enough' } }],
  ])('%s, in one turn', async (_when, order, end) => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` } });
    const first = await harness.engine();
    const id = await harness.start('f');
    await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
    await first.stop();
    for (const what of order) {
      if (what === 'cancel') await requestCancel(harness.store.db, [id], 'enough');
      else await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"done"' }]);
    }
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject(end);
    expect((await harness.count('inbox')) + (await harness.count('signals'))).toBe(0);
  });

  it('of a parent with 1,000 running children cancels them all', async () => {
    const harness = await kit.open({
      flows: { wide: `await Promise.all(Array.from({ length: 1000 }, () => Task.run('hang')));` },
      tasks: { hang },
    });
    await harness.engine({ concurrency: 2_000, claimBatch: 500 });
    const id = await harness.start('wide');
    await waitFor(
      'the children to run',
      async () => (await listExecutions(harness.store.db, { status: 'running', parentId: id, limit: 2_000 })).items.length === 1_000,
    );
    await requestCancel(harness.store.db, [id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled' });
    await waitFor(
      'all to be cancelled',
      async () => (await harness.count('executions', `status = 'cancelled' AND parent_id = '${id}'`)) === 1_000,
    );
    await waitFor('nothing to be held', async () => (await harness.count('claims')) === 0);
  });
});

describe('complete, cancel and timeout', () => {
  const kit = useHarness();
  const STATUS_AFTER = { complete: 'completed', cancel: 'cancelled', timeout: 'failed' } as const;
  type Ending = keyof typeof STATUS_AFTER;
  const ORDERS: [Ending, Ending][] = [
    ['complete', 'cancel'],
    ['complete', 'timeout'],
    ['cancel', 'complete'],
    ['cancel', 'timeout'],
    ['timeout', 'complete'],
    ['timeout', 'cancel'],
  ];

  it.each(ORDERS)('have one winner: %s before %s', async (first, second) => {
    let complete = (_: string) => {};
    const result = new Promise<string>((resolve) => {
      complete = resolve;
    });
    const harness = await kit.open({ tasks: { slow: () => result } });
    await recordEnds(harness);
    // This one has no room for anything else while it runs the task, so the other one handles the cancel.
    await harness.engine({ concurrency: 1 });
    const id = await harness.start('slow', undefined, { options: { totalTimeoutMs: 3_600_000 } });
    await waitFor('the task to run', async () => (await harness.status(id)) === 'running');
    await harness.engine();

    const waiting = async () => (await harness.query(WAITING_FOR_LOCK)).length;
    // Each returns once its writer has read the fence and waits for the lock on the row, which is granted in the order of asking.
    const end: Record<Ending, () => Promise<unknown>> = {
      complete: async () => {
        const before = await waiting();
        complete('done');
        await waitFor('the result to wait for the lock', async () => (await waiting()) === before + 1);
      },
      cancel: async () => {
        const before = await waiting();
        await requestCancel(harness.store.db, [id]);
        harness.store.hints.hint('work', 'default');
        await waitFor('the cancel to be claimed', async () => (await harness.count('work_queue')) === 0);
        // After the task's end its own engine has room and may claim the cancel; it then writes it after the result, without waiting for a lock.
        if (first !== 'complete') await waitFor('the cancel to wait for the lock', async () => (await waiting()) === before + 1);
      },
      timeout: async () => {
        const before = await waiting();
        await harness.query('UPDATE rhythm.scheduled_queue SET due_at = now() WHERE execution_id = $1', [id]);
        harness.store.hints.hint('timer', ANY);
        await waitFor('the timers of both engines to wait for the lock', async () => (await waiting()) === before + 2);
      },
    };
    await harness.store.db.transaction(async (tx) => {
      await tx.rows(sql('spec_lock', 'SELECT 1 FROM rhythm.executions WHERE id = $1 FOR UPDATE'), [id]);
      await end[first]();
      await end[second]();
    });

    expect(await harness.ended(id)).toMatchObject({ status: STATUS_AFTER[first] });
    await nothingLeft(harness);
    expect(await endsOf(harness)).toEqual([{ id, status: STATUS_AFTER[first] }]);
    expectConsistent(await harness.ended(id), 'done');
  });

  it('have one winner for each of many, in whatever order they come', async () => {
    const harness = await kit.open({ tasks: { brief: () => new Promise((resolve) => setTimeout(() => resolve('done'), 20)) } });
    await recordEnds(harness);
    await harness.engine();
    await harness.engine();
    const ids = await Promise.all(Array.from({ length: 60 }, () => harness.start('brief', undefined, { options: { totalTimeoutMs: 25 } })));
    await Promise.all(
      ids.map((id, n) => new Promise((resolve) => setTimeout(resolve, n)).then(() => requestCancel(harness.store.db, [id]))),
    );
    const ends = await Promise.all(ids.map((id) => harness.ended(id)));
    await nothingLeft(harness);
    // Each was ended by one write, and its status is that of this write.
    const byId = (a: { id: string }, b: { id: string }) => (a.id < b.id ? -1 : 1);
    expect((await endsOf(harness)).sort(byId)).toEqual(ends.map(({ id, status }) => ({ id, status })).sort(byId));
    for (const id of ids) expectConsistent(await harness.ended(id), 'done');
  });

  it('end a run that is never at rest at its time limit', async () => {
    const busy = `for (;;) await Task.run('noop')`;
    const harness = await kit.open({ flows: { busy }, tasks: { noop: () => 1 }, engine: { maxSteps: 100 } });
    let moved = 0;
    const fenceOf = async () =>
      (await harness.query<{ fence: string }>('SELECT fence FROM rhythm.executions WHERE parent_id IS NULL'))[0].fence;
    // Each time the passed limit has been read, the run moves before anything is done about it.
    const store = await Store.open({
      url: kit.url,
      schema: kit.schema,
      autoMigrate: false,
      intercept: async (statement, run) => {
        const rows = await run();
        if (statement !== 'rhythm_read_overdue') return rows;
        const before = await fenceOf();
        await waitFor('the run to move', async () => (await fenceOf()) !== before);
        moved++;
        return rows;
      },
    });
    const engine = await harness.engine({}, store);
    const id = await harness.start('busy', undefined, { options: { totalTimeoutMs: 100 } });
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { name: 'TimeoutError' } });
    expect(moved).toBeGreaterThan(0);
    await engine.stop();
    await store.close();
  });

  const WAITING_FOR_LOCK = `SELECT pid FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%rhythm.%'`;

  /** Records every write that ends an execution, also one that ends it again. */
  async function recordEnds(harness: Harness): Promise<void> {
    await harness.query('CREATE TABLE IF NOT EXISTS rhythm.spec_ends (id text, status text)');
    await harness.query(`CREATE OR REPLACE FUNCTION rhythm.spec_record_end() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO rhythm.spec_ends VALUES (NEW.id, NEW.status); RETURN NULL; END $$`);
    await harness.query(`CREATE OR REPLACE TRIGGER spec_record_end AFTER UPDATE ON rhythm.executions FOR EACH ROW
      WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION rhythm.spec_record_end()`);
  }

  const endsOf = (harness: Harness) => harness.query<{ id: string; status: string }>('SELECT id, status FROM rhythm.spec_ends');

  async function nothingLeft(harness: Harness): Promise<void> {
    const left = async () => Promise.all(['work_queue', 'scheduled_queue', 'claims', 'inbox'].map((table) => harness.count(table)));
    await waitFor('nothing to be left', async () => (await left()).every((rows) => rows === 0));
  }

  /** Status, value and error are those of the same end. */
  function expectConsistent({ status, value, error }: Awaited<ReturnType<Harness['ended']>>, result: string): void {
    if (status === 'completed') expect({ value, error }).toEqual({ value: result, error: null });
    else
      expect({ value, error }).toMatchObject({
        value: undefined,
        error: { name: status === 'cancelled' ? 'CancelledError' : 'TimeoutError' },
      });
  }
});

describe('pause and resume', () => {
  const kit = useHarness();

  it('keeps a run from moving, and loses nothing meanwhile', async () => {
    const harness = await kit.open({
      flows: { f: `let a = await Signal.when('go'); return a + (await Task.run('one'));` },
      tasks: { one: () => 1 },
    });
    await harness.engine();
    const id = await harness.start('f');
    await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
    expect(await pauseExecutions(harness.store.db, [id])).toEqual([id]);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '41' }]);
    await waitFor('the wake to be looked at', async () => (await harness.count('work_queue')) + (await harness.count('claims')) === 0);
    expect(await harness.status(id)).toBe('paused');
    expect((await listExecutions(harness.store.db, { status: 'paused' })).items).toHaveLength(1);
    expect(await resumeExecutions(harness.store.db, [id])).toEqual([id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 42 });
  });

  it('does not start a delayed task early, nor twice', async () => {
    const runs: number[] = [];
    const harness = await kit.open({ tasks: { note: () => void runs.push(Date.now()) } });
    await harness.engine();
    const due = Date.now() + 300;
    const id = await harness.start('note', undefined, { options: { delayMs: 300 } });
    await pauseExecutions(harness.store.db, [id]);
    await resumeExecutions(harness.store.db, [id]);
    await harness.ended(id);
    expect(runs).toHaveLength(1);
    expect(runs[0]).toBeGreaterThanOrEqual(due - 5);
  });
});

describe('retry', () => {
  const kit = useHarness();

  it('continues a failed workflow from the await that failed, and runs the failed child again first', async () => {
    let broken = true;
    const runs: string[] = [];
    const harness = await kit.open({
      flows: { f: `let a = await Task.run('first'); let b = await Task.run('second', a); return [a, b];` },
      tasks: {
        first: () => runs.push('first'),
        second: (a: number) => {
          runs.push('second');
          if (broken) throw new Error('broken');
          return a + 1;
        },
      },
    });
    await harness.engine();
    const id = await harness.start('f');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { name: 'TaskError', message: 'broken' } });
    broken = false;
    expect(await harness.store.db.transaction((tx) => retryExecution(tx, id))).toBe(true);
    harness.store.hints.hint('work', 'default');
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: [1, 2] });
    expect(runs).toEqual(['first', 'second', 'second']);
    expect(await harness.count('marked_executions')).toBe(0);
  });

  it('runs the failing turn again, and numbers its children after those already started', async () => {
    const harness = await kit.open({
      flows: { f: `await Signal.when('go'); Task.run('note', 'started'); if (Inputs.n) throw new Error('bug'); return 1;` },
      tasks: { note: () => 1 },
    });
    await harness.engine();
    const id = await harness.start('f', { n: 1 });
    await waitFor('it to wait', async () => (await harness.status(id)) === 'suspended');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { message: 'bug' } });
    await harness.store.db.transaction((tx) => retryExecution(tx, id));
    await waitFor('the second failure', async () => (await readTree(harness.store.db, id)).length === 3);
    expect((await harness.ended(id)).status).toBe('failed');
    expect((await readTree(harness.store.db, id)).map((node) => node.id).sort()).toEqual([id, `${id}:2`, `${id}:3`].sort());
  });

  it('is refused for what has not failed; remove takes a tree away and leaves the living', async () => {
    const harness = await kit.open({
      flows: { f: `return await Task.run('one');`, g: `await Signal.when('x');` },
      tasks: { one: () => 1 },
    });
    await harness.engine();
    const id = await harness.start('f');
    const living = await harness.start('g');
    await harness.ended(id);
    expect(await harness.store.db.transaction((tx) => retryExecution(tx, id))).toBe(false);
    await waitFor('the other to wait', async () => (await harness.status(living)) === 'suspended');
    expect((await removeExecutions(harness.store.db, [id, living])).sort()).toEqual([id, `${id}:1`]);
    expect(await harness.status(living)).toBe('suspended');
  });
});
