// What people are shown is true: how long a run took, what it waits for, who serves a queue, and in which order things happened.

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { Task } from '../../src/index.js';
import { eventually, useTestDatabase } from '../support/index.js';
import { startApp } from './start-app.js';

const database = useTestDatabase();

async function sql(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return await client.query(text.replaceAll('rhythm.', `${database.schema}.`), values);
  } finally {
    await client.end();
  }
}

describe('what is shown', () => {
  it('of a task that was tried several times begins with its first attempt, alone and as a step', async () => {
    const attempts: Record<string, number> = {};
    class Tasks {
      @Task('flaky', { retry: { maxAttempts: 3, delay: '300ms', backoff: 'fixed', jitter: false } })
      flaky(name: string) {
        attempts[name] = (attempts[name] ?? 0) + 1;
        if (attempts[name] < 3) throw new Error('not yet');
        return attempts[name];
      }
    }
    const flows = [{ name: 'calls', source: "return await Task.run('flaky', 'step')" }];
    const app = await startApp(database, { flows }, { providers: [Tasks] });
    await app.executions.start('flaky', 'alone', { id: 'alone' });
    await app.executions.start('calls', {}, { id: 'calls' });
    expect(await Promise.all([app.executions.result('alone'), app.executions.result('calls')])).toEqual([3, 3]);
    for (const id of ['alone', 'calls:1']) {
      const { startedAt, finishedAt } = await app.executions.get(id);
      // Two waits of 300 ms lie between the first attempt and the end.
      expect(finishedAt!.getTime() - startedAt!.getTime()).toBeGreaterThanOrEqual(590);
    }
    await app.close();
  });

  it('of a run that waits for several calls names those that have ended', async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    class Tasks {
      @Task('quick')
      quick() {
        return 1;
      }

      @Task('slow')
      async slow() {
        await held;
        return 2;
      }
    }
    // Those that are delayed have rows, and wake their run only when all of them have ended.
    const source = `
      const quick = () => Task.run('quick', null, { delay: '20ms' });
      return await Promise.all([quick(), quick(), Task.run('slow', null, { delay: '20ms' })])`;
    const app = await startApp(database, { flows: [{ name: 'both', source }] }, { providers: [Tasks] });
    await app.executions.start('both', {}, { id: 'both' });
    await eventually(async () => {
      const { text, branches } = await app.executions.inspect('both');
      const waits = 'Promise.all: task "quick" (has completed), task "quick" (has completed), task "slow"';
      expect(branches[0]?.waitsFor).toBe(waits);
      expect(text).toContain(`waits for ${waits}`);
    });
    release();
    expect(await app.executions.result('both')).toEqual([1, 1, 2]);
    await app.close();
  });

  it('of a queue does not count a worker that has missed its heartbeats', async () => {
    const app = await startApp(database, { worker: { heartbeatInterval: '1s', deadAfter: '1h', queues: ['served'] } });
    const served = async () => (await app.executions.status()).queues.find(({ queue }) => queue === 'served')?.workers;
    await eventually(async () => expect(await served()).toBe(1));
    await sql(
      `INSERT INTO rhythm.worker_heartbeats (worker_id, host, pid, queues, tasks, concurrency, code_version, beat_at)
      VALUES ('silent', 'h', 1, '{served,deserted}', '{}', 1, '0', now() - interval '10 seconds')`,
    );
    expect(await served()).toBe(1);
    const { queues, workers } = await app.executions.status();
    expect(queues.find(({ queue }) => queue === 'deserted')?.workers ?? 0).toBe(0);
    // It is still listed, with how long it has been silent.
    expect(workers.find(({ workerId }) => workerId === 'silent')!.silentMs).toBeGreaterThan(9_000);
    await app.close();
    await sql(`DELETE FROM rhythm.worker_heartbeats WHERE worker_id = 'silent'`);
  });

  it('of what happened at one time is in the order in which it was done', async () => {
    class Tasks {
      @Task('step')
      step(n: number) {
        return n;
      }
    }
    const source = `
      for (let n = 1; n <= 30; n++) console.log('line ' + n);
      return await Promise.all(Array.from({ length: 12 }, (_, n) => Task.run('step', n)));`;
    const app = await startApp(database, { flows: [{ name: 'many', source }] }, { providers: [Tasks] });
    await app.executions.start('many', {}, { id: 'many' });
    await app.executions.result('many');
    // As one commit writes them, or a clock that stands still.
    await sql(
      `UPDATE rhythm.executions SET created_at = '2026-01-01', started_at = '2026-01-01', finished_at = '2026-01-01' WHERE id LIKE 'many%'`,
    );
    await sql(`UPDATE rhythm.steps SET started_at = '2026-01-01', finished_at = '2026-01-01' WHERE execution_id = 'many'`);
    await sql(`UPDATE rhythm.history SET at = '2026-01-01' WHERE execution_id LIKE 'many%'`);
    const history = await app.executions.history('many');
    const lines = history.filter(({ kind }) => kind === 'log').map(({ detail }) => (detail as { message: string }).message);
    expect(lines).toEqual(Array.from({ length: 30 }, (_, n) => `line ${n + 1}`));
    const ids = history.filter(({ kind }) => kind === 'step-completed').map(({ executionId }) => executionId);
    expect(ids).toEqual(Array.from({ length: 12 }, (_, n) => `many:${n + 1}`));
    const { children } = await app.executions.tree('many');
    expect(children.map(({ id }) => id)).toEqual(ids);
    await app.close();
  });
});
