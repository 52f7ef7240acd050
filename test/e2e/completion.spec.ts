// Tasks that the outside completes by token.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const tokens: string[] = [];

@Injectable()
class Webhooks {
  @Task('call-partner')
  async call(_input: unknown, ctx: TaskContext) {
    tokens.push(await ctx.completeLater());
  }
}

describe('a task that is completed from outside', () => {
  const database = useTestDatabase();
  let app: TestApp;
  beforeAll(async () => {
    const flows = [
      { name: 'partner', source: 'return await Task.run("call-partner")' },
      {
        name: 'careful',
        source: 'try {\n  return await Task.run("call-partner")\n} catch (error) {\n  return [error.message, error.code, error.data]\n}',
      },
    ];
    app = await startApp(database, { flows }, { providers: [Webhooks] });
  });

  async function startAndGetToken(name: string): Promise<{ id: string; token: string }> {
    tokens.length = 0;
    const { id } = await app.executions.start(name);
    await eventually(async () => expect((await app.executions.tree(id)).children[0]?.status).toBe('suspended'));
    return { id, token: tokens[0]! };
  }

  it('ends with the result it is given, once', async () => {
    const { id, token } = await startAndGetToken('partner');
    await app.completions.complete(token, { ref: 7 });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual({ ref: 7 });
    await expect(app.completions.complete(token, { ref: 8 })).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
  });

  it('has one winner when two complete it at once', async () => {
    const { id, token } = await startAndGetToken('partner');
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((n) => app.completions.complete(token, n)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect([1, 2, 3, 4]).toContain(await app.executions.result(id, { timeout: '10s' }));
  });

  it('fails with the error it is given', async () => {
    const { id, token } = await startAndGetToken('careful');
    await app.completions.fail(token, { message: 'partner said no', code: 'NO', data: { why: 1 } });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual(['partner said no', 'NO', { why: 1 }]);
  });

  it('does not accept a token of its own making', async () => {
    const { id, token } = await startAndGetToken('partner');
    const forged = `${token.split('.')[0]}.${'A'.repeat(32)}`;
    await expect(app.completions.complete(forged)).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
    await expect(app.completions.complete('nonsense')).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
    await app.executions.cancel(id);
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    await eventually(async () => expect((await app.executions.tree(id)).children[0]?.status).toBe('cancelled'));
    await expect(app.completions.complete(token)).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
  });
});
