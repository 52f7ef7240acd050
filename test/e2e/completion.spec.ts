// Tasks that are completed from outside, with their token.

import { beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import pg from 'pg';
import { RhythmEvents, Task, type TaskContext } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp, type TestApp } from './start-app.js';

const tokens: string[] = [];
let beforeReturn: Promise<void> | undefined;

@Injectable()
class Webhooks {
  @Task('call-partner')
  async call(_input: unknown, ctx: TaskContext) {
    tokens.push(await ctx.completeLater());
    await beforeReturn;
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

  it('ends with the given result, once', async () => {
    const { id, token } = await startAndGetToken('partner');
    await app.completions.complete(token, { ref: 7 });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual({ ref: 7 });
    await expect(app.completions.complete(token, { ref: 8 })).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
  });

  it('is reported as finished by the process that completed it', async () => {
    const finished: unknown[] = [];
    const unsubscribe = app.app.get(RhythmEvents).subscribe(['finished'], (event) => finished.push(event));
    const { id, token } = await startAndGetToken('partner');
    await app.completions.fail(token, { message: 'no' });
    unsubscribe();
    const facts = { executionId: `${id}:1`, name: 'call-partner', kind: 'task', queue: 'default', version: null, parentId: id };
    expect(finished[0]).toEqual({ type: 'finished', ...facts, status: 'failed', attempts: 1, durationMs: expect.any(Number) });
  });

  it('is completed by only one of two calls at the same time', async () => {
    const { id, token } = await startAndGetToken('partner');
    const outcomes = await Promise.allSettled([1, 2, 3, 4].map((n) => app.completions.complete(token, n)));
    expect(outcomes.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(1);
    expect([1, 2, 3, 4]).toContain(await app.executions.result(id, { timeout: '10s' }));
  });

  it('fails with the given error', async () => {
    const { id, token } = await startAndGetToken('careful');
    await app.completions.fail(token, { message: 'partner said no', code: 'NO', data: { why: 1 } });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual(['partner said no', 'NO', { why: 1 }]);
  });

  it('does not accept a forged token', async () => {
    const { id, token } = await startAndGetToken('partner');
    const forged = `${token.split('.')[0]}.${'A'.repeat(32)}`;
    await expect(app.completions.complete(forged)).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
    await expect(app.completions.complete('nonsense')).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
    await app.executions.cancel(id);
    await expect(app.executions.result(id, { timeout: '10s' })).rejects.toMatchObject({ code: 'RHYTHM_EXECUTION_CANCELLED' });
    await eventually(async () => expect((await app.executions.tree(id)).children[0]?.status).toBe('cancelled'));
    await expect(app.completions.complete(token)).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
  });

  it('accepts its token even while its return is being written', async () => {
    tokens.length = 0;
    let release = () => {};
    beforeReturn = new Promise((resolve) => (release = resolve));
    const { id } = await app.executions.start('partner');
    await eventually(() => expect(tokens).toHaveLength(1));
    // Both writes wait for the row of the task: first that of its return, then the end from outside, which has read the token before.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const waiting = async () =>
      (await client.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)).rows.length;
    let completing: Promise<void> | undefined;
    try {
      await client.query('BEGIN');
      await client.query(`SELECT 1 FROM "${database.schema}".executions WHERE id = $1 FOR UPDATE`, [`${id}:1`]);
      release();
      await eventually(async () => expect(await waiting()).toBe(1));
      completing = app.completions.complete(tokens[0]!, 'at once');
      await eventually(async () => expect(await waiting()).toBe(2));
      await client.query('COMMIT');
    } finally {
      beforeReturn = undefined;
      await client.end();
    }
    await completing;
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('at once');
  });

  it('can be completed at the moment in which it returns', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) {
      tokens.length = 0;
      ids.push((await app.executions.start('call-partner')).id);
      while (tokens.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await app.completions.complete(tokens[0]!, n);
    }
    expect(await Promise.all(ids.map((id) => app.executions.result(id, { timeout: '10s' })))).toEqual(ids.map((_, n) => n));
  });

  it('is not changed, and the error says to try again, when its end cannot be written because it is changed again and again', async () => {
    const { id, token } = await startAndGetToken('partner');
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const schema = `"${database.schema}"`;
    try {
      await client.query(`CREATE FUNCTION ${schema}.other_writer() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
      await client.query(
        `CREATE TRIGGER other_writer BEFORE UPDATE ON ${schema}.executions FOR EACH ROW WHEN (NEW.status = 'completed') EXECUTE FUNCTION ${schema}.other_writer()`,
      );
      await expect(app.completions.complete(token, 1)).rejects.toMatchObject({
        code: 'RHYTHM_COMPLETION_BUSY',
        message: expect.stringMatching(/the token is still valid: try again/),
      });
    } finally {
      await client.query(`DROP TRIGGER IF EXISTS other_writer ON ${schema}.executions`);
      await client.end();
    }
    await app.completions.complete(token, 2);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe(2);
  });

  it.each(['task', 'workflow'])('keeps its token while the %s is paused: completing it ends it', async (what) => {
    const { id, token } = await startAndGetToken('partner');
    const paused = what === 'task' ? `${id}:1` : id;
    await app.executions.pause(paused);
    await app.completions.complete(token, 'meanwhile');
    await expect(app.completions.complete(token, 'twice')).rejects.toMatchObject({ code: 'RHYTHM_COMPLETION_TOKEN' });
    expect(await app.executions.get(`${id}:1`)).toMatchObject({ status: 'completed', output: 'meanwhile' });
    if (what === 'workflow') await app.executions.resume(id);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('meanwhile');
    expect((await app.executions.list({ status: 'paused' })).items).toEqual([]);
    expect((await app.executions.list({ status: 'completed', name: 'call-partner' })).items.map((item) => item.id)).toContain(`${id}:1`);
    expect(tokens).toHaveLength(1);
  });

  it('can be failed from outside while it is paused', async () => {
    const { id, token } = await startAndGetToken('careful');
    await app.executions.pause(`${id}:1`);
    await app.completions.fail(token, { message: 'partner said no' });
    expect(await app.executions.result(id, { timeout: '10s' })).toEqual(
      ['partner said no', undefined, undefined].map((one) => one ?? null),
    );
    expect((await app.executions.list({ status: 'paused' })).items).toEqual([]);
  });

  it('waits again when it is resumed, and is not run twice', async () => {
    const { id, token } = await startAndGetToken('partner');
    for (let n = 0; n < 2; n++) {
      await app.executions.pause(`${id}:1`);
      expect((await app.executions.get(`${id}:1`)).status).toBe('paused');
      await app.executions.resume(`${id}:1`);
      expect((await app.executions.get(`${id}:1`)).status).toBe('suspended');
    }
    expect((await app.executions.list({ status: 'suspended', name: 'call-partner' })).items.map((item) => item.id)).toEqual([`${id}:1`]);
    await app.completions.complete(token, 'late');
    expect(await app.executions.result(id, { timeout: '10s' })).toBe('late');
    expect(tokens).toHaveLength(1);
  });

  it('that is paused in the middle of an attempt runs again, and the token of that attempt is invalid', async () => {
    tokens.length = 0;
    let release = () => {};
    beforeReturn = new Promise((resolve) => (release = resolve));
    const { id } = await app.executions.start('call-partner');
    await eventually(() => expect(tokens).toHaveLength(1));
    await app.executions.pause(id);
    beforeReturn = undefined;
    release();
    await expect(app.completions.complete(tokens[0]!, 1)).rejects.toMatchObject({
      code: 'RHYTHM_COMPLETION_TOKEN',
      message: expect.stringContaining('paused'),
    });
    await app.executions.resume(id);
    await eventually(() => expect(tokens).toHaveLength(2));
    await app.completions.complete(tokens[1]!, 2);
    expect(await app.executions.result(id, { timeout: '10s' })).toBe(2);
  });
});
