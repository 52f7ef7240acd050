// Starting workflows and tasks and waiting for their results, in a real Nest application.

import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { NonRetryableError, Task, type TaskContext } from '../../src/index.js';
import { useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

@Injectable()
class MathTasks {
  @Task('double')
  double({ n }: { n: number }, ctx: TaskContext) {
    return { n: n * 2, key: ctx.idempotencyKey, attempt: ctx.attempt };
  }

  @Task('refuse')
  refuse() {
    throw new NonRetryableError('card declined', { code: 'CARD_DECLINED', data: { limit: 5 } });
  }
}

const FLOWS = [
  { name: 'greet', source: 'const { n } = await Task.run("double", { n: Inputs.n })\nreturn { hello: n }' },
  { name: 'nothing', source: 'await Timer.sleep(1)' },
  { name: 'sleepy', source: 'await Timer.sleep("1h")\nreturn 1' },
  { name: 'declined', source: 'await Task.run("refuse")' },
  { name: 'parent', source: 'const a = await Workflow.run("greet", { n: 4 })\nreturn [a.hello, Context.executionId]' },
  { name: 'echo', source: 'return Inputs' },
];

describe('an application with Rhythm', () => {
  const database = useTestDatabase();
  let booted: Promise<TestApp> | undefined;
  const app = () => {
    booted ??= startApp(database, { flows: FLOWS }, { providers: [MathTasks] });
    return booted;
  };

  it('runs a workflow that calls a task, and returns its result', async () => {
    const { executions } = await app();
    const { id, created } = await executions.start('greet', { n: 21 });
    expect(created).toBe(true);
    expect(await executions.result(id, { timeout: '10s' })).toEqual({ hello: 42 });
    expect(await executions.get(id)).toMatchObject({ status: 'completed', type: 'workflow', input: { n: 21 }, output: { hello: 42 } });
  });

  it('runs a task by itself', async () => {
    const { executions } = await app();
    const { id } = await executions.start('double', { n: 4 }, { idempotencyKey: 'k:1' });
    expect(await executions.result(id, { timeout: '10s' })).toEqual({ n: 8, key: 'k:1', attempt: 1 });
  });

  it('runs a child workflow', async () => {
    const { executions } = await app();
    const { id } = await executions.start('parent', undefined, { id: 'parent-1' });
    expect(await executions.result(id, { timeout: '10s' })).toEqual([8, 'parent-1']);
  });

  it('returns undefined for a run that returns nothing', async () => {
    const { executions } = await app();
    const { id } = await executions.start('nothing');
    expect(await executions.result(id, { timeout: '10s' })).toBeUndefined();
  });

  it('rejects with the error of the run', async () => {
    const { executions } = await app();
    const { id } = await executions.start('declined');
    await expect(executions.result(id, { timeout: '10s' })).rejects.toMatchObject({
      code: 'RHYTHM_EXECUTION_FAILED',
      message: expect.stringContaining('card declined'),
      cause: expect.objectContaining({ name: 'TaskError', code: 'CARD_DECLINED', data: { limit: 5 }, attempts: 1 }),
    });
    expect((await executions.get(id)).status).toBe('failed');
  });

  it('stops waiting after the timeout, while the run continues', async () => {
    const { executions } = await app();
    const { id } = await executions.start('sleepy');
    await expect(executions.result(id, { timeout: 50 })).rejects.toMatchObject({ code: 'RHYTHM_RESULT_TIMEOUT', executionId: id });
    await executions.cancel(id);
    await expect(executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
  });

  it('stops waiting when the caller aborts', async () => {
    const { executions } = await app();
    const { id } = await executions.start('sleepy');
    const abort = new AbortController();
    const waiting = executions.result(id, { signal: abort.signal });
    abort.abort(new Error('no longer needed'));
    await expect(waiting).rejects.toThrow('no longer needed');
  });

  it('returns the same run for the same id and input, and refuses a different input', async () => {
    const { executions } = await app();
    const first = await executions.start('echo', { a: 1, b: 2 }, { id: 'once' });
    const again = await executions.start('echo', { b: 2, a: 1 }, { id: 'once' });
    expect([first, again]).toEqual([
      { id: 'once', created: true },
      { id: 'once', created: false },
    ]);
    await expect(executions.start('echo', { a: 2 }, { id: 'once' })).rejects.toMatchObject({ code: 'RHYTHM_CONFLICT', differs: 'input' });
    await expect(executions.start('greet', { a: 1, b: 2 }, { id: 'once' })).rejects.toMatchObject({
      code: 'RHYTHM_CONFLICT',
      differs: 'name',
    });
  });

  it('starts once for one idempotency key', async () => {
    const { executions } = await app();
    const started = await Promise.all(Array.from({ length: 20 }, () => executions.start('echo', 7, { idempotencyKey: 'seven' })));
    expect(new Set(started.map(({ id }) => id)).size).toBe(1);
    expect(started.filter(({ created }) => created)).toHaveLength(1);
    await expect(executions.start('echo', 8, { idempotencyKey: 'seven' })).rejects.toMatchObject({
      code: 'RHYTHM_CONFLICT',
      message: expect.stringMatching(/^The idempotencyKey "seven" belongs to execution ".*", .* different input\..* choose another key\.$/),
    });
  });

  it('reports that it started a run only when it did, even while the last run with that id is being removed', async () => {
    const { executions } = await app();
    for (let round = 0; round < 100; round++) {
      const id = `removed-${round % 5}`;
      await executions.start('echo', round % 5, { id });
      await executions.result(id, { timeout: '10s' });
      const [, ...started] = await Promise.all([
        executions.erase(id),
        executions.start('echo', round % 5, { id }),
        executions.startMany([{ name: 'echo', input: round % 5, options: { id } }]).then(([one]) => one!),
      ]);
      // A start that found the run before its removal was right at that moment; a run that was created exists.
      if (started.some(({ created }) => created)) expect(await executions.result(id, { timeout: '10s' })).toBe(round % 5);
      else await expect(executions.get(id)).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    }
  }, 60_000);

  it('starts many at once', async () => {
    const { executions } = await app();
    const started = await executions.startMany(
      Array.from({ length: 250 }, (_, n) => ({ name: 'echo', input: { n }, options: { tags: ['many'] } })),
    );
    expect(started.every(({ created }) => created)).toBe(true);
    const results = await Promise.all(started.map(({ id }) => executions.result(id, { timeout: '20s' })));
    expect(results).toEqual(Array.from({ length: 250 }, (_, n) => ({ n })));
  });

  it('keeps every character and the order of keys', async () => {
    const { executions } = await app();
    const input = { zz: 1, a: { b: '\u0000', c: '\ud800' }, '10': 'ten', empty: '', unicode: '💜', nested: [[null]] };
    const { id } = await executions.start('echo', input);
    const output = await executions.result(id, { timeout: '10s' });
    expect(JSON.stringify(output)).toBe(JSON.stringify(input));
  });

  it('refuses what it cannot start, with advice', async () => {
    const { executions } = await app();
    await expect(executions.start('gret')).rejects.toMatchObject({
      code: 'RHYTHM_UNKNOWN_WORKFLOW',
      message: expect.stringMatching(/No workflow or task is named "gret"\. Did you mean "greet"\?/),
    });
    await expect(executions.start('dubble', {}, { type: 'task' })).rejects.toMatchObject({ code: 'RHYTHM_UNKNOWN_TASK' });
    await expect(executions.start('echo', {}, { id: 'a:b' })).rejects.toThrow(/contains ":", which is reserved/);
    await expect(executions.start('echo', {}, { id: 'cron' })).rejects.toThrow(/"cron" is reserved/);
    await expect(executions.start('echo', {}, { id: 'x'.repeat(201) })).rejects.toThrow(/has 201 characters; the limit is 200/);
    await expect(executions.start('echo', {}, { priorty: 1 } as object)).rejects.toThrow(
      /Unknown option "priorty" in options\. Did you mean "priority"/,
    );
    await expect(executions.start('echo', {}, { delay: 'soon' })).rejects.toThrow(/options\.delay: "soon" is not a duration/);
    await expect(executions.start('echo', {}, { runAt: 'tomorrow' })).rejects.toThrow(/options\.runAt: "tomorrow" is not a valid date/);
    await expect(executions.start('echo', {}, { delay: 1, runAt: new Date() })).rejects.toThrow(/both delay and runAt/);
    await expect(executions.start('echo', { big: 'x'.repeat(2_000_000) })).rejects.toMatchObject({ code: 'RHYTHM_PAYLOAD_TOO_LARGE' });
    await expect(executions.start('echo', { at: [Number.NaN] })).rejects.toThrow('input.at[0] is NaN, which JSON cannot hold.');
    await expect(executions.startMany([{ name: 'echo' }, { name: 'echo', input: { n: Number.NaN } }])).rejects.toThrow(
      'requests[1].input.n is NaN, which JSON cannot hold.',
    );
    await expect(executions.startMany([{ name: '' }])).rejects.toThrow('requests[0].name is empty.');
    await expect(executions.start('echo', {}, { timeout: 0 })).rejects.toThrow(/options\.timeout: a timeout of 0 .* leave it out/);
    await expect(executions.start('echo', {}, { priority: 40_000 })).rejects.toThrow(/must be between -32768 and 32767/);
    await expect(executions.start('echo', {}, { version: 'abcdef0' })).rejects.toMatchObject({ code: 'RHYTHM_UNKNOWN_VERSION' });
    await expect(executions.get('missing')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
    await expect(executions.result('missing')).rejects.toMatchObject({ code: 'RHYTHM_NOT_FOUND' });
  });

  it('starts later on request', async () => {
    const { executions, scheduler } = await app();
    const before = Date.now();
    const { id } = await executions.start('echo', 1, { delay: 300 });
    const at = await scheduler.schedule(new Date(before + 400), 'echo', 2);
    expect(await executions.result(id, { timeout: '10s' })).toBe(1);
    expect(Date.now() - before).toBeGreaterThanOrEqual(295);
    expect(await executions.result(at.id, { timeout: '10s' })).toBe(2);
    expect(Date.now() - before).toBeGreaterThanOrEqual(395);
  });

  it('rejects waiting calls when it shuts down', async () => {
    const other = await startApp(database, { role: 'api' });
    const { id } = await other.executions.start('sleepy');
    const waiting = expect(other.executions.result(id)).rejects.toMatchObject({ code: 'RHYTHM_SHUTTING_DOWN' });
    await other.close();
    await waiting;
    await expect(other.executions.result(id)).rejects.toMatchObject({ code: 'RHYTHM_SHUTTING_DOWN' });
  });
});
