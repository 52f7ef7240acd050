// What people do to executions: cancel, pause, resume, retry, remove.

import { describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import {
  getExecution,
  listExecutions,
  pauseExecutions,
  readTree,
  removeExecutions,
  requestCancel,
  resumeExecutions,
  retryExecution,
  sendSignals,
} from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

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
    await waitFor('the running task to be aborted', () => reasons.length > 0);
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

  it('in one turn with a result starts nothing that the flow asks for in between, and undoes what was done', async () => {
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
    // While it is paused the result waits; the cancel then wakes it for both.
    await pauseExecutions(harness.store.db, [id]);
    reserve();
    await harness.ended(`${id}:1`);
    await requestCancel(harness.store.db, [id]);
    expect(await harness.ended(id)).toMatchObject({ status: 'cancelled', error: { name: 'CancelledError' } });
    expect(did).toEqual(['reserve', 'undo reserve']);
    expect(await harness.count('execution_status', `parent_id = '${id}'`)).toBe(2);
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
    await waitFor('the wake to be handled', async () => (await harness.count('work_queue')) + (await harness.count('claims')) === 0);
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

  it('is refused for what has not failed; remove deletes a tree that has ended, and no other', async () => {
    const harness = await kit.open({
      flows: { f: `return await Task.run('one');`, g: `await Signal.when('x');` },
      tasks: { one: () => 1 },
    });
    await harness.engine();
    const id = await harness.start('f');
    const live = await harness.start('g');
    await harness.ended(id);
    expect(await harness.store.db.transaction((tx) => retryExecution(tx, id))).toBe(false);
    await waitFor('the other to wait', async () => (await harness.status(live)) === 'suspended');
    expect((await removeExecutions(harness.store.db, [id, live])).sort()).toEqual([id, `${id}:1`]);
    expect(await harness.status(live)).toBe('suspended');
  });
});
