// Starts whose id is taken: refused, returned, or a new run in place of one that has ended or is cancelled first.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type StartOptions, Task, type TaskContext } from '../../src/index.js';
import { useTestDatabase, waitFor } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const FLOWS = [
  {
    name: 'job',
    source: `
      const done = [await Task.run("note", Inputs.value)];
      try {
        if (Inputs.wait) await Signal.when("go");
      } finally {
        done.push(await Task.run("note", "cleaned up"));
      }
      if (Inputs.fail) throw new Error("bad");
      return Inputs.value;
    `,
  },
  { name: 'other', source: 'return 1' },
  { name: 'careless', source: 'Task.run("hold"); await Timer.sleep(1); return "ended"' },
  { name: 'parent', source: 'Workflow.run("waits", 1, { id: "own-child" }); await Timer.sleep(1); return "ended"' },
  { name: 'waits', source: 'return await Signal.when("go")' },
  { name: 'reports', source: 'Workflow.run("waits", 1, { id: "reporting-child" }); await Timer.sleep(1); return "ended"' },
  { name: 'keyed', source: 'await Task.run("key"); return await Task.run("key")' },
];

@Injectable()
class Tasks {
  static readonly notes: unknown[] = [];
  static readonly keys: string[] = [];
  static release: () => void = () => undefined;

  @Task('note')
  note(value: unknown) {
    Tasks.notes.push(value);
    return value;
  }

  @Task('key')
  key(_input: unknown, { idempotencyKey }: TaskContext) {
    Tasks.keys.push(idempotencyKey);
  }

  @Task('hold')
  hold() {
    return new Promise<void>((resolve) => {
      Tasks.release = resolve;
    });
  }
}

describe('a start whose id is taken', () => {
  const database = useTestDatabase();
  let app: TestApp;
  let source: DataSource;
  beforeAll(async () => {
    app = await startApp(database, { flows: FLOWS, limits: { payloadBytes: 4_096 } }, { providers: [Tasks] });
    source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
  });
  afterAll(() => source?.destroy());

  const rows = <Row>(text: string, values: unknown[] = []) =>
    source.query<Row[]>(text.replaceAll('rhythm.', `"${database.schema}".`), values);
  const job = (id: string, input: unknown, options: StartOptions = {}) => app.executions.start('job', input, { id, ...options });
  const result = (id: string) => app.executions.result(id, { timeout: '15s' });
  const suspended = (id: string) =>
    waitFor(`${id} to wait`, async () => (await app.executions.inspect(id)).text.includes('signal "go"') || undefined);

  describe("with onConflict 'fail'", () => {
    it('is refused for a run with the same input, living or ended, and makes a new run otherwise', async () => {
      expect(await job('once', { value: 1, wait: true }, { onConflict: 'fail' })).toEqual({ id: 'once', created: true });
      const again = () => job('once', { value: 1, wait: true }, { onConflict: 'fail' });
      await expect(again()).rejects.toMatchObject({ code: 'RHYTHM_CONFLICT', executionId: 'once', differs: null });
      await app.signals.send('once', 'go');
      await result('once');
      await expect(again()).rejects.toThrow(/"once" exists already, and onConflict is 'fail'/);
    });

    it('succeeds for one of many at the same time', async () => {
      const starts = await Promise.allSettled(Array.from({ length: 10 }, () => job('race', { value: 2 }, { onConflict: 'fail' })));
      expect(starts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });
  });

  describe("with onConflict 'restart-ended'", () => {
    const restart: StartOptions = { onConflict: 'restart-ended' };

    it('is a new run in place of one that has ended, and nothing of that one is left', async () => {
      await job('again', { value: 'first', fail: true }, { tags: ['old'] });
      await expect(result('again')).rejects.toThrow('bad');
      const first = await app.executions.get('again');
      expect(await job('again', { value: 'second', wait: true }, { ...restart, tags: ['new'] })).toEqual({ id: 'again', created: true });
      await suspended('again');
      expect((await app.executions.get('again')).error).toBeNull();
      await app.signals.send('again', 'go');
      expect(await result('again')).toBe('second');
      const second = await app.executions.get('again');
      expect(second).toMatchObject({ status: 'completed', tags: ['new'], input: { value: 'second', wait: true } });
      expect(second.createdAt.getTime()).toBeGreaterThan(first.createdAt.getTime());
      const { children } = await app.executions.tree('again');
      expect(children.map(({ id, input }) => [id, input])).toEqual([
        ['again:3', 'second'],
        ['again:5', 'cleaned up'],
      ]);
      expect((await app.executions.history('again')).map(({ kind }) => kind)).not.toContain('failed');
      expect(await rows(`SELECT * FROM rhythm.marked_executions WHERE execution_id = 'again'`)).toEqual([]);
    });

    it('leaves the row as that of a run that never existed before', async () => {
      const later: StartOptions = { runAt: new Date('2090-01-01'), tags: ['x'], totalTimeout: '1h', priority: 3 };
      await job('used', { value: 1, fail: true }, { totalTimeout: '1h' });
      await expect(result('used')).rejects.toThrow('bad');
      await job('used', { value: 3 }, { ...restart, ...later });
      await job('fresh', { value: 3 }, later);
      const rowOf = async (id: string) => {
        // `calls`: the calls of the new run are numbered after those of the old one.
        const [{ id: _, bucket: _bucket, fence: _fence, created_at: _at, calls: _calls, ...row }] = await rows<Record<string, unknown>>(
          'SELECT * FROM rhythm.executions WHERE id = $1',
          [id],
        );
        const due = await rows('SELECT kind, call, due_at FROM rhythm.scheduled_queue WHERE execution_id = $1 ORDER BY kind', [id]);
        return { row, due };
      };
      expect(await rowOf('used')).toEqual(await rowOf('fresh'));
    });

    it('returns a run that has not ended, and refuses another input or name', async () => {
      await job('living', { value: 1, wait: true });
      expect(await job('living', { value: 1, wait: true }, restart)).toEqual({ id: 'living', created: false });
      await expect(job('living', { value: 2 }, restart)).rejects.toMatchObject({ code: 'RHYTHM_CONFLICT', differs: 'input' });
      await app.executions.cancel('living');
      await expect(result('living')).rejects.toThrow(/cancelled/);
      await expect(app.executions.start('other', 1, { id: 'living', ...restart })).rejects.toMatchObject({ differs: 'name' });
      expect((await app.executions.get('living')).status).toBe('cancelled');
    });

    it('makes one new run, however many ask for it at the same time', async () => {
      await job('many', { value: 'old' });
      await result('many');
      Tasks.notes.length = 0;
      const starts = await Promise.all(Array.from({ length: 10 }, () => job('many', { value: 'new', wait: true }, restart)));
      expect(starts.filter(({ created }) => created)).toHaveLength(1);
      await suspended('many');
      expect(Tasks.notes).toEqual(['new']);
    });

    it('works with an idempotency key, and for tasks', async () => {
      const start = () => app.executions.start('note', 'by key', { type: 'task', idempotencyKey: 'k', ...restart });
      const { id } = await start();
      await result(id);
      Tasks.notes.length = 0;
      expect(await start()).toEqual({ id, created: true });
      expect(await result(id)).toBe('by key');
      expect(Tasks.notes).toEqual(['by key']);
    });

    it('is part of the transaction of its caller', async () => {
      await job('joined', { value: 'old' });
      await result('joined');
      const start = (fails: boolean) =>
        source.transaction(async (manager) => {
          await job('joined', { value: 'new', wait: true }, { ...restart, manager });
          if (fails) throw new Error('rolled back');
        });
      await expect(start(true)).rejects.toThrow('rolled back');
      expect(await result('joined')).toBe('old');
      expect((await app.executions.tree('joined')).children).toHaveLength(2);
      await start(false);
      await suspended('joined');
    });

    it('can be one of many starts', async () => {
      await job('batch-1', { value: 'old' });
      await result('batch-1');
      await job('batch-2', { value: 'same', wait: true });
      const request = (id: string, input: unknown) => ({ name: 'job', input, options: { id, ...restart } });
      const started = await app.executions.startMany([
        request('batch-1', { value: 'new' }),
        request('batch-2', { value: 'same', wait: true }),
        request('batch-3', { value: 'new' }),
        { name: 'other' },
      ]);
      expect(started.map(({ created }) => created)).toEqual([true, false, true, true]);
      expect(await result('batch-1')).toBe('new');
      expect(await result('batch-3')).toBe('new');
    });

    it('is refused while something that the old run called has not ended', async () => {
      await app.executions.start('careless', 1, { id: 'careless' });
      await result('careless');
      const start = () => app.executions.start('careless', 2, { id: 'careless', ...restart });
      await expect(start()).rejects.toMatchObject({
        code: 'RHYTHM_STATE',
        message: expect.stringContaining('something that it called has not'),
      });
      Tasks.release();
      await waitFor('the task to end', async () => (await app.executions.get('careless:1')).status === 'completed');
      expect(await start()).toEqual({ id: 'careless', created: true });
      await result('careless');
      Tasks.release();
    });

    it('is refused while a child with an id of its own could report to the new run, and lets go of one that has ended', async () => {
      await app.executions.start('parent', 1, { id: 'parent' });
      await result('parent');
      const start = () => app.executions.start('parent', 2, { id: 'parent', ...restart });
      await expect(start()).rejects.toMatchObject({ code: 'RHYTHM_STATE' });
      await app.signals.send('own-child', 'go', 'gone');
      expect(await result('own-child')).toBe('gone');
      expect(await start()).toEqual({ id: 'parent', created: true });
      expect(await app.executions.get('own-child')).toMatchObject({ parentId: null, status: 'completed' });
      await result('parent');
    });
  });

  describe("with onConflict 'cancel-running'", () => {
    const replace: StartOptions = { onConflict: 'cancel-running' };

    it('cancels the run, lets it clean up, and resolves when the new run has its place', async () => {
      await job('busy', { value: 'old', wait: true });
      await suspended('busy');
      Tasks.notes.length = 0;
      expect(await job('busy', { value: 'new' }, replace)).toEqual({ id: 'busy', created: true });
      expect(await result('busy')).toBe('new');
      expect(Tasks.notes).toEqual(['cleaned up', 'new', 'cleaned up']);
    });

    it('starts at once if there is no such run, or it has ended', async () => {
      expect(await job('none', { value: 1 }, replace)).toEqual({ id: 'none', created: true });
      await result('none');
      expect(await job('none', { value: 2 }, replace)).toEqual({ id: 'none', created: true });
      expect(await result('none')).toBe(2);
    });

    it('replaces a run that is paused', async () => {
      await job('paused', { value: 'old', wait: true });
      await suspended('paused');
      await app.executions.pause('paused');
      expect(await job('paused', { value: 'new' }, replace)).toEqual({ id: 'paused', created: true });
      expect(await result('paused')).toBe('new');
    });

    it('gives each of several starts at the same time a run of its own, the last of which lives', async () => {
      await job('queue', { value: 0, wait: true });
      const starts = await Promise.all([1, 2, 3].map((value) => job('queue', { value, wait: true }, replace)));
      expect(starts.map(({ created }) => created)).toEqual([true, true, true]);
      await suspended('queue');
      expect([1, 2, 3]).toContain(((await app.executions.get('queue')).input as { value: number }).value);
    });
  });

  it('is checked: a policy needs an id or a key, and one that waits cannot join a transaction or a batch', async () => {
    await expect(app.executions.start('job', {}, { onConflict: 'fail' })).rejects.toThrow(/options\.onConflict is for starts with an id/);
    await expect(job('x', {}, { onConflict: 'replace' as 'fail' })).rejects.toThrow(/onConflict/);
    await source.transaction(async (manager) => {
      await expect(job('x', {}, { onConflict: 'cancel-running', manager })).rejects.toThrow(/cannot be part of a transaction/);
    });
    await expect(app.executions.startMany([{ name: 'job', options: { id: 'x', onConflict: 'cancel-running' } }])).rejects.toThrow(
      /requests\[0\]\.options\.onConflict is 'cancel-running'.*Use start/,
    );
  });

  it('is a new run after the old one was removed, which leaves its id behind', async () => {
    for (const onConflict of ['restart-ended', 'cancel-running'] as const) {
      const id = `removed-${onConflict}`;
      await job(id, { value: 1 });
      await result(id);
      await app.executions.remove(id);
      expect(await job(id, { value: 1 })).toEqual({ id, created: false });
      expect(await job(id, { value: 2 }, { onConflict })).toEqual({ id, created: true });
      expect(await result(id)).toBe(2);
    }
  });

  it('keeps a run from being removed while a child with an id of its own would report to a later run', async () => {
    await app.executions.start('reports', undefined, { id: 'reporter' });
    expect(await app.executions.result('reporter', { timeout: '20s' })).toBe('ended');
    await expect(app.executions.remove('reporter')).rejects.toMatchObject({ code: 'RHYTHM_STATE' });
    await app.signals.send('reporting-child', 'go', 1);
    await app.executions.result('reporting-child', { timeout: '20s' });
    await app.executions.remove('reporter');
  });

  describe('restart', () => {
    it('gives the calls of the new run idempotency keys of their own', async () => {
      Tasks.keys.length = 0;
      await app.executions.start('keyed', 1, { id: 'keys' });
      await app.executions.result('keys', { timeout: '20s' });
      await app.executions.restart('keys', { input: 2 });
      await app.executions.result('keys', { timeout: '20s' });
      expect(Tasks.keys).toHaveLength(4);
      expect(new Set(Tasks.keys).size).toBe(4);
    });

    it('runs an ended execution again with the same input, or another', async () => {
      await job('r', { value: 'a' }, { tags: ['kept'], queue: 'default', priority: 2 });
      expect(await result('r')).toBe('a');
      Tasks.notes.length = 0;
      await app.executions.restart('r');
      expect(await result('r')).toBe('a');
      expect(Tasks.notes).toEqual(['a', 'cleaned up']);
      await app.executions.restart('r', { input: { value: 'b' } });
      expect(await result('r')).toBe('b');
      expect(await app.executions.get('r')).toMatchObject({ tags: ['kept'], priority: 2, input: { value: 'b' } });
    });

    it('runs a delayed execution without the delay, and a failed task with all its attempts', async () => {
      await job('delayed', { value: 1 }, { delay: 1 });
      await result('delayed');
      await app.executions.restart('delayed');
      expect(await result('delayed')).toBe(1);
      const [{ options }] = await rows<{ options: unknown }>(`SELECT options FROM rhythm.executions WHERE id = 'delayed'`);
      expect(options).toBeNull();
    });

    it('is refused for what has not ended, for a step, and for an unknown id', async () => {
      await job('on', { value: 1, wait: true });
      await suspended('on');
      await expect(app.executions.restart('on')).rejects.toMatchObject({
        code: 'RHYTHM_STATE',
        message: expect.stringContaining('Cancel it first'),
      });
      await expect(app.executions.restart('on:1')).rejects.toMatchObject({ message: expect.stringContaining('a part of execution "on"') });
      await expect(app.executions.restart('nobody')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
      await expect(app.executions.restart('on', { inputs: 1 } as never)).rejects.toThrow(/Unknown option "inputs".*Did you mean "input"/);
      await expect(app.executions.restart('r', { input: 'x'.repeat(5_000) })).rejects.toMatchObject({ code: 'RHYTHM_PAYLOAD_TOO_LARGE' });
    });

    it('makes one new run when it is called twice at the same time', async () => {
      await job('twice', { value: 1 });
      await result('twice');
      const calls = await Promise.allSettled([1, 2, 3].map((value) => app.executions.restart('twice', { input: { value, wait: true } })));
      expect(calls.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      await suspended('twice');
    });
  });
});
