// Cancel, pause, resume, retry and remove.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const calls: string[] = [];
let bankIsDown = true;
const aborted: unknown[] = [];

@Injectable()
class Tasks {
  @Task('note')
  note({ what }: { what: string }) {
    calls.push(what);
    return what;
  }

  @Task('bank', { retry: { maxAttempts: 1 } })
  bank() {
    calls.push('bank');
    if (bankIsDown) throw new Error('the bank is down');
    return 'paid';
  }

  @Task('endless')
  endless(_input: unknown, { signal }: TaskContext) {
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        aborted.push(signal.reason);
        reject(signal.reason);
      });
    });
  }
}

const FLOWS = [
  {
    name: 'cleans-up',
    source: 'try {\n  await Timer.sleep("1h")\n} catch (error) {\n  await Task.run("note", { what: error.name })\n  throw error\n}',
  },
  {
    name: 'cleans-up-quietly',
    source:
      'try {\n  await Timer.sleep("1h")\n} catch {\n  await Task.run("note", { what: "quiet" })\n  await Task.run("note", { what: "twice" })\n}',
  },
  { name: 'family', source: 'return await Promise.all([Workflow.run("cleans-up"), Task.run("endless")])' },
  { name: 'pays', source: 'await Task.run("note", { what: "first" })\nconst receipt = await Task.run("bank")\nreturn receipt' },
  { name: 'waits', source: 'const go = await Signal.when("go")\nreturn go' },
];

describe('an execution', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS }, { providers: [Tasks] });
  });
  const status = async (id: string) => (await app.executions.get(id)).status;

  it('that is cancelled can clean up, and ends as cancelled with everything it called', async () => {
    calls.length = 0;
    const { id } = await app.executions.start('family');
    await eventually(async () => expect((await app.executions.tree(id)).children).toHaveLength(2));
    await eventually(async () =>
      expect((await app.executions.tree(id)).children.map((child) => child.status).sort()).toEqual(['running', 'suspended']),
    );
    await app.executions.cancel(id, { reason: 'stop it' });
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    await eventually(async () => {
      const { children } = await app.executions.tree(id);
      expect(children.map((child) => child.status)).toEqual(['cancelled', 'cancelled']);
    });
    await eventually(() => expect(calls).toContain('CancelledError'));
    expect(aborted).toHaveLength(1);
  });

  it.each(['cleans-up', 'cleans-up-quietly', 'waits'])('that is cancelled (%s) keeps the reason', async (name) => {
    const { id } = await app.executions.start(name);
    await eventually(async () => expect(await status(id)).toBe('suspended'));
    await app.executions.cancel(id, { reason: 'the customer left' });
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({
      reason: 'the customer left',
      message: `Execution "${id}" was cancelled: the customer left.`,
    });
    expect((await app.executions.get(id)).error?.message).toBe('the customer left');
  });

  it('that has ended is not changed by a cancel', async () => {
    const { id } = await app.executions.start('note', { what: 'done' });
    await app.executions.result(id, { timeout: '10s' });
    await app.executions.cancel(id);
    expect(await status(id)).toBe('completed');
    await expect(app.executions.cancel('missing')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it('that is paused does nothing until it is resumed', async () => {
    const { id } = await app.executions.start('waits');
    await eventually(async () => expect(await status(id)).toBe('suspended'));
    await app.executions.pause(id);
    await app.executions.pause(id);
    expect(await status(id)).toBe('paused');
    await app.signals.send(id, 'go', 'on');
    await expect(app.executions.result(id, { timeout: 400 })).rejects.toMatchObject({
      code: 'RHYTHM_RESULT_TIMEOUT',
      status: 'paused',
      message: expect.stringMatching(/It is paused: .*resume\(id\)/),
    });
    await app.executions.resume(id);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('on');
    await expect(app.executions.pause(id)).rejects.toMatchObject({
      code: 'RHYTHM_STATE',
      message: expect.stringContaining('it is completed'),
    });
    await expect(app.executions.resume(id)).rejects.toMatchObject({ code: 'RHYTHM_STATE' });
  });

  it('that failed continues from the await that failed', async () => {
    calls.length = 0;
    bankIsDown = true;
    const { id } = await app.executions.start('pays');
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toThrow(/the bank is down/);
    bankIsDown = false;
    await app.executions.retry(id);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('paid');
    expect(calls).toEqual(['first', 'bank', 'bank']);
    const kinds = (await app.executions.history(id)).map((entry) => entry.kind);
    expect(kinds.filter((kind) => /failed|retried|completed/.test(kind) && kind !== 'step-attempt-failed')).toEqual([
      'step-completed',
      'step-failed',
      'failed',
      'retried',
      'step-retried',
      'step-completed',
      'completed',
    ]);
    await expect(app.executions.retry(id)).rejects.toMatchObject({
      code: 'RHYTHM_STATE',
      message: expect.stringContaining('Only a failed execution'),
    });
  });

  it('that is a failed task runs again', async () => {
    bankIsDown = true;
    const { id } = await app.executions.start('bank');
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toThrow(/the bank is down/);
    bankIsDown = false;
    await app.executions.retry(id);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('paid');
  });

  it('can be removed once it has ended', async () => {
    const { id } = await app.executions.start('waits');
    await expect(app.executions.remove(id)).rejects.toMatchObject({ code: 'RHYTHM_STATE' });
    await app.signals.send(id, 'go');
    await app.executions.result(id, { timeout: '10s' });
    await app.executions.remove(id);
    await expect(app.executions.get(id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });
});
