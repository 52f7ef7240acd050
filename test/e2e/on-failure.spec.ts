// What is started because an execution failed: once, in the commit of the failure, with the error and the input.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { NonRetryableError, Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase, waitFor } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

interface Failed {
  id: string;
  type: string;
  name: string;
  error: { name: string; message: string; code?: string; data?: unknown; attempts?: number };
  input?: unknown;
}

const FLOWS = [
  { name: 'breaks', source: 'throw new Error("out of paper")', onFailure: 'page' },
  { name: 'caught', source: 'try { await Task.run("charge", 1) } catch { return "went on" }' },
  { name: 'plain', source: 'await Timer.sleep(1); throw new Error("plain")' },
  { name: 'patient', source: 'await Signal.when("never")', onFailure: { task: 'page' } },
  { name: 'parent', source: 'return await Workflow.run("breaks", Inputs)' },
  { name: 'repair', source: 'return await Task.run("page", Inputs)' },
];

let app: TestApp;

@Injectable()
class Tasks {
  static readonly pages: Failed[] = [];
  static readonly parents: (string | null)[] = [];
  static token: string | undefined;
  static isBroken = false;

  @Task('page', { priority: 4, retry: { maxAttempts: 1 } })
  page(failed: Failed, context: TaskContext) {
    Tasks.pages.push(failed);
    Tasks.parents.push(context.parentId);
    if (Tasks.isBroken) throw new Error('the pager is broken too');
  }

  @Task('charge', { onFailure: 'page', retry: { maxAttempts: 2, delay: 1 } })
  charge(input: unknown) {
    throw Object.assign(new Error('no \0 money \ud800'), { code: 'POOR', data: { input } });
  }

  @Task('ask', { onFailure: 'page' })
  async ask(_: unknown, context: TaskContext) {
    Tasks.token = await context.completeLater();
  }

  @Task('refuse', { onFailure: 'page' })
  refuse() {
    throw new NonRetryableError('no');
  }
}

describe('onFailure', () => {
  const database = useTestDatabase();
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS }, { providers: [Tasks] });
  });
  afterAll(() => app?.close());
  beforeEach(() => {
    Tasks.pages.length = 0;
    Tasks.parents.length = 0;
    Tasks.isBroken = false;
  });

  const failed = (id: string) =>
    expect(app.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_FAILED' });
  const paged = (count = 1) => waitFor('the handler', () => Tasks.pages.length >= count);
  /** Everything that was started has ended, so nothing more can be paged. */
  const settled = () =>
    eventually(async () => {
      const { queues } = await app.executions.status();
      expect(queues.filter(({ queue, waiting, running }) => queue === 'default' && waiting + running > 0)).toEqual([]);
    });

  it('of a flow starts its task with the id, the name, the error and the input', async () => {
    const { id } = await app.executions.start('breaks', { order: 7 });
    await failed(id);
    await paged();
    expect(Tasks.pages).toEqual([
      {
        id,
        type: 'workflow',
        name: 'breaks',
        error: { name: 'Error', message: 'out of paper' },
        input: { order: 7 },
      },
    ]);
    expect(Tasks.parents).toEqual([id]);
    const { children } = await app.executions.tree(id);
    expect(children).toMatchObject([{ id: expect.stringContaining(`${id}:onfail-`), name: 'page', priority: 4, parentId: id }]);
    await app.executions.history(id);
    await settled();
    await app.executions.remove(id);
    await expect(app.executions.get(children[0]!.id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it('of a task runs after its last attempt, whatever characters its error has', async () => {
    const { id } = await app.executions.start('charge', 'text \0');
    await failed(id);
    await paged();
    await settled();
    expect(Tasks.pages).toEqual([
      {
        id,
        type: 'task',
        name: 'charge',
        error: { name: 'Error', message: 'no \ufffd money \ufffd', code: 'POOR', attempts: 2, data: { input: 'text \ufffd' } },
        input: 'text \ufffd',
      },
    ]);
  });

  it('of a start takes the place of the one that is declared, can be a workflow, and can be none', async () => {
    const { id } = await app.executions.start('plain', undefined, { onFailure: { workflow: 'repair' } });
    await failed(id);
    await paged();
    expect(Tasks.pages[0]).toMatchObject({ id, name: 'plain' });
    expect(Tasks.pages[0]).not.toHaveProperty('input');
    const [handler] = (await app.executions.tree(id)).children;
    expect(handler).toMatchObject({ type: 'workflow', name: 'repair', children: [{ name: 'page' }] });
    await settled();
    await failed((await app.executions.start('breaks', 1, { onFailure: null })).id);
    await settled();
    expect(Tasks.pages).toHaveLength(1);
  });

  it('is for every way to fail: a time limit, a start that came too late, a token', async () => {
    await failed((await app.executions.start('patient', 1, { totalTimeout: '30ms' })).id);
    await paged(1);
    expect(Tasks.pages[0]?.error.code).toBe('RHYTHM_TIMEOUT');
    await failed((await app.executions.start('refuse', 2, { queue: 'nobody', startTimeout: '30ms' })).id);
    await paged(2);
    const { id } = await app.executions.start('ask', 3);
    await waitFor('the token', () => Tasks.token !== undefined);
    await app.completions.fail(Tasks.token!, { message: 'they said no' });
    await failed(id);
    await paged(3);
    expect(Tasks.pages.map(({ input }) => input)).toEqual([1, 2, 3]);
  });

  it('is not for a cancelled run, nor for what another workflow calls, which gets the error itself', async () => {
    const { id } = await app.executions.start('patient');
    await app.executions.cancel(id);
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toThrow(/was cancelled/);
    const caught = await app.executions.start('caught');
    expect(await app.executions.result(caught.id, { timeout: '10s' })).toBe('went on');
    await failed((await app.executions.start('parent')).id);
    await settled();
    expect(Tasks.pages).toEqual([]);
  });

  it('does not loop when the handler fails', async () => {
    Tasks.isBroken = true;
    const { id } = await app.executions.start('page', { id: 'self' }, { onFailure: 'page' });
    await failed(id);
    await paged(2);
    await settled();
    expect(Tasks.pages).toHaveLength(2);
  });

  it('starts one handler for each failure of a run that is retried, and does not disturb the retry', async () => {
    const { id } = await app.executions.start('charge', 1);
    await failed(id);
    await paged(1);
    await settled();
    await app.executions.retry(id);
    await failed(id);
    await paged(2);
    await settled();
    expect((await app.executions.tree(id)).children).toHaveLength(2);
    await app.executions.restart(id);
    await failed(id);
    await paged(3);
    await settled();
    expect((await app.executions.tree(id)).children).toHaveLength(1);
  });

  it('starts one handler for each of many failures at the same time', async () => {
    await app.executions.startMany(Array.from({ length: 60 }, (_, n) => ({ name: n % 2 ? 'refuse' : 'breaks', input: n })));
    await paged(60);
    await settled();
    expect(new Set(Tasks.pages.map(({ input }) => input)).size).toBe(60);
    expect(Tasks.pages).toHaveLength(60);
  });

  it('names something that exists', async () => {
    await expect(app.executions.start('plain', 1, { onFailure: 'paeg' })).rejects.toThrow(
      /No workflow or task is named "paeg".*Did you mean "page"/,
    );
    await expect(app.executions.start('plain', 1, { onFailure: { flow: 'x' } as never })).rejects.toThrow(
      /Unknown option "flow" in options\.onFailure/,
    );
    await expect(app.executions.start('plain', 1, { onFailure: {} as never })).rejects.toThrow(/neither a name, \{ task: 'name' \} nor/);
    const flows = [{ name: 'f', source: 'return 1', onFailure: 7 as never }];
    await expect(startApp(database, { flows })).rejects.toThrow(/flows\[0\]\.onFailure/);
    const misspelled = [{ name: 'f', source: 'return 1', onFailure: 'paeg' }];
    await expect(startApp(database, { flows: misspelled }, { providers: [Tasks] })).rejects.toThrow(
      /f\.flow: onFailure is "paeg", which is no task and no workflow of this process\. Did you mean "page"\?/,
    );
    const elsewhere = await startApp(database, { flows: [{ name: 'f', source: 'return 1', onFailure: { workflow: 'elsewhere' } }] });
    await expect(elsewhere.executions.start('f')).rejects.toMatchObject({
      code: 'RHYTHM_CONFIGURATION',
      message: expect.stringMatching(/The onFailure that is declared for the workflow "f" is not there: No workflow is named "elsewhere"/),
    });
    await elsewhere.close();
  });
});
