// Tasks: attempts, retries, bounds of time, progress, hand-over to the outside.

import { describe, expect, it } from '@jest/globals';
import type { TaskContext } from '../../libs/engine/index.js';
import { bucketOf, commitWork, findToken, getExecution, readHistory, type Store } from '../../libs/store/index.js';
import { NonRetryableError } from '../../src/errors.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

// As the completion service does it: find the task, write its end at the fence of the token.
async function completeByToken({ db }: Store, token: string, output: string): Promise<boolean> {
  const target = await findToken(db, token);
  if (!target?.valid) return false;
  const parent = { id: target.parentId as string, bucket: bucketOf(target.parentId as string), call: target.parentCall as number };
  const task = { ...target, status: 'completed' as const, output, parent, clearSchedule: true };
  return (await commitWork(db, { workerId: 'outside', tasks: [task], turns: [], claims: [] })).tasks[0];
}

describe('tasks', () => {
  const kit = useHarness();

  it('may take their context apart, copy and wrap it', async () => {
    const harness = await kit.open({
      tasks: {
        curious: async (_: unknown, context: TaskContext) => {
          const { heartbeat, ...rest } = context;
          const copy = { ...rest, heartbeat };
          await heartbeat({ half: true });
          const same = new Proxy(context, {}).signal === copy.signal;
          return [same, copy.signal.aborted, copy.rootId === context.executionId, typeof copy.completeLater, typeof copy.logger.log];
        },
        plain: (_: unknown, context: TaskContext) => context.manager,
      },
    });
    await harness.engine();
    expect((await harness.ended(await harness.start('curious'))).value).toEqual([true, false, true, 'function', 'function']);
    const refused = await harness.ended(await harness.start('plain'));
    expect(refused.error).toMatchObject({ message: expect.stringContaining('Declare "plain" with @Task({ transactional: true })') });
  });

  it('are tried again after a failure, with the same idempotency key, until their attempts are used up', async () => {
    const seen: string[] = [];
    const harness = await kit.open({
      tasks: {
        flaky: (_: unknown, context: TaskContext) => {
          seen.push(`${context.attempt}/${context.maxAttempts} ${context.idempotencyKey}`);
          if (context.attempt < 3) throw new Error(`attempt ${context.attempt}`);
          return 'at last';
        },
        hopeless: () => {
          throw Object.assign(new Error('no'), { code: 'E_NO', data: { why: 1 } });
        },
        final: () => {
          throw new NonRetryableError('never again');
        },
      },
      policies: { flaky: { maxAttempts: 5 }, hopeless: { maxAttempts: 2 }, final: { maxAttempts: 9 } },
    });
    await harness.engine();
    const flaky = await harness.start('flaky');
    expect(await harness.ended(flaky)).toMatchObject({ status: 'completed', value: 'at last', attempts: 2 });
    expect(seen).toEqual([1, 2, 3].map((attempt) => `${attempt}/5 ${flaky}`));
    expect(await harness.ended(await harness.start('hopeless'))).toMatchObject({
      status: 'failed',
      error: { message: 'no', code: 'E_NO', data: { why: 1 }, attempts: 2 },
    });
    expect(await harness.ended(await harness.start('final'))).toMatchObject({
      status: 'failed',
      error: { name: 'NonRetryableError', attempts: 1 },
    });
    expect((await readHistory(harness.store.db, flaky)).filter((entry) => entry.kind === 'attempt-failed')).toHaveLength(2);
  });

  it('fail when an attempt, the wait for the start or the whole takes too long', async () => {
    const aborted: string[] = [];
    const harness = await kit.open({
      tasks: {
        slow: (_: unknown, context: TaskContext) =>
          new Promise((_resolve, reject) =>
            context.signal.addEventListener('abort', () => {
              aborted.push((context.signal.reason as Error).name);
              reject(context.signal.reason);
            }),
          ),
        ignoring: () => new Promise(() => undefined),
      },
      policies: { slow: { timeoutMs: 40 } },
    });
    await harness.engine();
    expect(await harness.ended(await harness.start('slow'))).toMatchObject({ status: 'failed', error: { name: 'TimeoutError' } });
    expect(aborted).toEqual(['TimeoutError']);
    expect(await harness.ended(await harness.start('ignoring', undefined, { options: { timeoutMs: 40 } }))).toMatchObject({
      status: 'failed',
      error: { name: 'TimeoutError' },
    });
    expect(await harness.ended(await harness.start('ignoring', undefined, { options: { totalTimeoutMs: 60 } }))).toMatchObject({
      status: 'failed',
      error: { name: 'TimeoutError', message: expect.stringContaining('60 ms') },
    });
    const unserved = await harness.start('ignoring', undefined, { queue: 'nobody', options: { startTimeoutMs: 60 } });
    expect(await harness.ended(unserved)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('did not start within 60 ms') },
    });
    expect(await harness.count('scheduled_queue')).toBe(0);
  });

  it('report progress, which the next attempt can read', async () => {
    const harness = await kit.open({
      tasks: {
        long: async (_: unknown, context: TaskContext) => {
          if (context.attempt === 2) return context.lastProgress;
          await context.heartbeat({ done: 7 });
          throw new Error('halfway');
        },
      },
      policies: { long: { maxAttempts: 2 } },
    });
    await harness.engine();
    expect(await harness.ended(await harness.start('long'))).toMatchObject({ status: 'completed', value: { done: 7 } });
  });

  it('can be ended from outside by their token, once', async () => {
    const tokens: string[] = [];
    const harness = await kit.open({
      flows: { hook: `return await Task.run('wait');` },
      tasks: {
        wait: async (_: unknown, context: TaskContext) => {
          tokens.push(await context.completeLater());
        },
      },
    });
    await harness.engine();
    const id = await harness.start('hook');
    await waitFor('the task to hand itself over', async () => (await getExecution(harness.store.db, `${id}:1`))?.status === 'suspended');
    expect(await harness.count('completion_tokens', `hash LIKE '%${tokens[0].split('.')[1].slice(0, 10)}%'`)).toBe(0);
    expect(await findToken(harness.store.db, tokens[0])).toMatchObject({ id: `${id}:1`, queue: 'default', runningMs: expect.any(Number) });
    expect(await completeByToken(harness.store, `${tokens[0]}x`, '1')).toBe(false);
    const won = await Promise.all([1, 2, 3].map((n) => completeByToken(harness.store, tokens[0], String(n))));
    expect(won.filter(Boolean)).toHaveLength(1);
    const winner = won.indexOf(true) + 1;
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: winner });
    expect(await harness.count('completion_tokens')).toBe(0);
  });

  it('that ask for their token without awaiting it do not end by returning', async () => {
    const tokens: Promise<string>[] = [];
    const harness = await kit.open({
      flows: { hook: `return await Task.run('hasty');` },
      tasks: {
        hasty: (_: unknown, context: TaskContext) => {
          tokens.push(context.completeLater());
        },
      },
    });
    await harness.engine();
    const id = await harness.start('hook');
    await waitFor('the task to hand itself over', async () => (await getExecution(harness.store.db, `${id}:1`))?.status === 'suspended');
    expect(await completeByToken(harness.store, await tokens[0], '"later"')).toBe(true);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'later' });
  });

  it('may return a value, a promise or anything that can be awaited, and may throw at once', async () => {
    // biome-ignore lint/suspicious/noThenProperty: what people return that is no promise and can be awaited.
    const later = (value: unknown) => ({ then: (resolve: (value: unknown) => void) => void setImmediate(() => resolve(value)) });
    const harness = await kit.open({
      flows: {
        f: `let failed; try { await Task.run('throws') } catch (error) { failed = error.message }
          return [await Task.run('value'), await Task.run('promise'), await Task.run('thenable'), await Task.run('callable'), failed]`,
      },
      tasks: {
        value: () => 1,
        promise: async () => 2,
        thenable: () => later(3),
        callable: () => Object.assign(() => undefined, later(4)),
        throws: () => {
          throw new NonRetryableError('at once');
        },
      },
    });
    await harness.engine();
    expect(await harness.ended(await harness.start('f'))).toMatchObject({ status: 'completed', value: [1, 2, 3, 4, 'at once'] });
  });

  it('that throw undefined fail with a message about it', async () => {
    const harness = await kit.open({
      tasks: {
        silent: () => {
          throw undefined;
        },
      },
    });
    await harness.engine();
    expect(await harness.ended(await harness.start('silent', undefined, { options: { retry: { maxAttempts: 1 } } }))).toMatchObject({
      status: 'failed',
      error: { name: 'Error', message: 'Task "silent" threw undefined. Throw an Error that says what happened.' },
    });
  });

  it('keep every character of their input and result', async () => {
    const odd = { z: 'nul \u0000 and \ud800 alone', a: [1e21, -0, 'ü', { ключ: null }] };
    const harness = await kit.open({
      flows: { pass: `return await Task.run('echo', Inputs);` },
      tasks: { echo: (value: unknown) => value },
    });
    await harness.engine();
    const ended = await harness.ended(await harness.start('pass', odd));
    expect(ended.output).toBe(JSON.stringify(odd));
    expect(await harness.count('executions', `output::text LIKE '%nul \ufffd and \ufffd alone%'`)).toBe(2);
  });

  it('run high priority first', async () => {
    const order: unknown[] = [];
    const harness = await kit.open({ tasks: { note: (value: unknown) => void order.push(value) } });
    for (const [n, priority] of [0, 5, -3, 5].entries()) await harness.start('note', n, { priority });
    await harness.engine({ concurrency: 1, claimBatch: 1 });
    await waitFor('all to run', () => order.length === 4);
    expect(order).toEqual([1, 3, 0, 2]);
  });
});
