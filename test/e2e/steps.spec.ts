// Steps of workflows as users see and steer them, while they have no rows of their own and afterwards.

import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const held = new Map<string, (value: string) => void>();
const begun: string[] = [];

@Injectable()
class Tasks {
  @Task('hold', { retry: { maxAttempts: 1 } })
  hold(_input: unknown, { executionId, signal }: TaskContext) {
    begun.push(executionId);
    return new Promise((resolve, reject) => {
      held.set(executionId, resolve);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  }

  @Task('quick')
  quick({ n }: { n: number }) {
    return n * 2;
  }
}

const FLOWS = [
  { name: 'holds', source: `try { return await Task.run('hold', { order: 7 }) } catch (e) { return e.code }` },
  { name: 'leaves', source: `Task.run('hold', { order: 7 }); await Task.run('quick', { n: 1 }); return 'gone'` },
  { name: 'doubles', source: `let n = 1; for (let i = 0; i < 3; i++) n = await Task.run('quick', { n }); return n` },
];

describe('a step of a workflow', () => {
  const database = useTestDatabase();
  let app: TestApp;
  const rows = async (what: string, id: string) => {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query(what.replaceAll('rhythm.', `${database.schema}.`), [id])).rows;
    } finally {
      await client.end();
    }
  };
  const pending = async (id: string) => (await rows('SELECT pending FROM rhythm.executions WHERE id = $1', id))[0].pending;
  const stored = (id: string) => rows('SELECT call FROM rhythm.steps WHERE execution_id = $1 ORDER BY call', id);
  const holding = async (name = 'holds') => {
    const { id } = await app.executions.start(name);
    await eventually(() => expect(held.has(`${id}:1`)).toBe(true));
    return { id, step: `${id}:1`, release: (value: string) => held.get(`${id}:1`)?.(value) };
  };
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS }, { providers: [Tasks] });
  });
  beforeEach(() => {
    begun.length = 0;
  });

  it('that runs without a row is shown as running, with its input, wherever executions are read', async () => {
    const { executions } = app;
    const { id, step, release } = await holding();
    expect(await pending(id)).toContain('hold');
    const running = { id: step, name: 'hold', type: 'task', status: 'running', parentId: id, input: { order: 7 }, attempts: 0 };
    expect(await executions.get(step)).toMatchObject(running);
    expect((await executions.get(step)).workerId).toEqual(expect.any(String));
    expect((await executions.list({ parentId: id })).items).toMatchObject([running]);
    expect((await executions.list({ status: 'running' })).items).toContainEqual(expect.objectContaining({ id: step }));
    expect((await executions.tree(id)).children).toMatchObject([running]);
    expect((await executions.history(id)).map(({ kind }) => kind)).toEqual(['created', 'started', 'step-created', 'step-started']);
    expect((await executions.inspect(step)).text).toContain('task "hold" is running');
    expect((await executions.status()).queues).toContainEqual(expect.objectContaining({ queue: 'default', running: 1 }));
    expect((await executions.get(id)).status).toBe('suspended');
    const result = executions.result(step, { timeout: '10s' });
    release('done');
    expect(await result).toBe('done');
    expect(await executions.result(id, { timeout: '10s' })).toBe('done');
    expect(await pending(id)).toBeNull();
  });

  it('that completed without a row is found by its id, in the tree, the history and the list of its parent', async () => {
    const { executions } = app;
    const { id } = await executions.start('doubles');
    expect(await executions.result(id, { timeout: '10s' })).toBe(8);
    expect(await rows('SELECT id FROM rhythm.executions WHERE parent_id = $1', id)).toEqual([]);
    const ended = [1, 2, 3].map((n) => ({ id: `${id}:${n}`, status: 'completed', input: { n: 2 ** (n - 1) }, output: 2 ** n }));
    expect((await executions.tree(id)).children).toMatchObject(ended);
    const pages = [];
    for (let cursor: string | undefined; pages.length < 3; ) {
      const page = await executions.list({ parentId: id, limit: 1, ...(cursor ? { cursor } : {}) });
      pages.push(...page.items);
      cursor = page.next;
      if (!cursor) break;
    }
    expect(pages.map((step) => step.id).sort()).toEqual(ended.map((step) => step.id));
    expect(await executions.get(`${id}:2`)).toMatchObject({ ...ended[1], startedAt: expect.any(Date), finishedAt: expect.any(Date) });
    expect((await executions.history(`${id}:2`)).map(({ kind }) => kind)).toEqual(['created', 'started', 'completed']);
    expect(await executions.result(`${id}:3`)).toBe(8);
    expect((await executions.list({ type: 'task' })).items.filter(({ parentId }) => parentId === id)).toEqual([]);
    await expect(executions.result(`${id}:9`)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it('takes no signals, whether it runs or has ended', async () => {
    const { step, release } = await holding();
    const refused = { code: 'RHYTHM_SIGNAL_TO_TASK' };
    await expect(app.signals.send(step, 'go')).rejects.toMatchObject(refused);
    release('done');
    await app.executions.result(step, { timeout: '10s' });
    await expect(app.signals.send(step, 'go')).rejects.toMatchObject(refused);
  });

  it('is cancelled by its id, and its workflow reads that as the error of the call', async () => {
    const { id, step } = await holding();
    await app.executions.cancel(step);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('RHYTHM_CANCELLED');
    expect(await app.executions.get(step)).toMatchObject({ status: 'cancelled' });
    expect(await pending(id)).toBeNull();
  });

  it('is cancelled by its id even after its workflow has ended', async () => {
    const { id, step } = await holding('leaves');
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('gone');
    expect(await pending(id)).toContain('hold');
    await app.executions.cancel(step);
    await eventually(async () => expect(await app.executions.get(step)).toMatchObject({ status: 'cancelled' }));
    expect(await pending(id)).toBeNull();
  });

  it('is paused and resumed by its id: what it did is dropped, and it runs again', async () => {
    const { id, step } = await holding();
    await app.executions.pause(step);
    expect(await app.executions.get(step)).toMatchObject({ status: 'paused' });
    held.delete(step);
    await app.executions.resume(step);
    await eventually(() => expect(held.has(step)).toBe(true));
    held.get(step)?.('second');
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('second');
    expect(begun.filter((each) => each === step)).toHaveLength(2);
  });

  it('is removed with its workflow, or alone once it has ended', async () => {
    const { executions } = app;
    const { id } = await executions.start('doubles');
    await executions.result(id, { timeout: '10s' });
    await executions.remove(`${id}:1`);
    await expect(executions.get(`${id}:1`)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    await expect(executions.result(`${id}:1`)).rejects.toMatchObject({ code: 'RHYTHM_RESULT_EXPIRED' });
    await executions.remove(id);
    expect(await stored(id)).toEqual([]);
  });

  it('has no result any more once its workflow has consumed it and keeps no steps', async () => {
    const frugal = await startApp(database, { flows: FLOWS, history: { maxSteps: 0 } }, { providers: [Tasks] });
    await app.close();
    const { id } = await frugal.executions.start('doubles');
    expect(await frugal.executions.result(id, { timeout: '10s' })).toBe(8);
    await expect(frugal.executions.result(`${id}:1`)).rejects.toMatchObject({ code: 'RHYTHM_RESULT_EXPIRED', executionId: `${id}:1` });
    expect(await stored(id)).toEqual([]);
    await frugal.close();
  });
});
