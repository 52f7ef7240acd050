// Transactional tasks: their writes, their result and the wake of their workflow are one commit.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';
import type { TaskContext } from '../../libs/engine/index.js';
import { sql } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

describe('transactional tasks', () => {
  const kit = useHarness();
  let app: DataSource;
  beforeAll(async () => {
    app = await new DataSource({ type: 'postgres', url: kit.url }).initialize();
    await app.query('CREATE TABLE paid (id text)');
  });
  afterAll(async () => {
    await app.destroy();
  });
  const pay = (manager: EntityManager, id: string) => manager.query('INSERT INTO paid VALUES ($1)', [id]);

  it('take effect once, together with their result', async () => {
    const harness = await kit.open({
      flows: { order: `return await Task.run('pay');` },
      tasks: {
        pay: async (_: unknown, { manager, executionId }: TaskContext) => {
          await pay(manager, executionId);
          return 'paid';
        },
      },
      policies: { pay: { transactional: true } },
      appDataSource: app,
    });
    await harness.engine();
    const ids = await Promise.all(Array.from({ length: 10 }, () => harness.start('order')));
    for (const id of ids) expect(await harness.ended(id)).toMatchObject({ value: 'paid' });
    const rows: { n: string }[] = await app.query('SELECT count(*) AS n FROM paid');
    expect(Number(rows[0].n)).toBe(10);
    await waitFor('nothing to be held', async () => (await harness.count('claims')) === 0);
  });

  it('leave nothing when they fail after their writes, or lost their claim meanwhile', async () => {
    await app.query('TRUNCATE paid');
    let taken: Promise<unknown> | undefined;
    const harness = await kit.open({
      tasks: {
        pay: async (how: string, { manager, executionId, attempt }: TaskContext) => {
          await pay(manager, executionId);
          if (how === 'throw' && attempt === 1) throw new Error('after the write');
          if (how === 'lose' && !taken) {
            taken = harness.query(`UPDATE rhythm.executions SET fence = fence + 1 WHERE id = $1`, [executionId]);
            await taken;
          }
          return attempt;
        },
      },
      policies: { pay: { transactional: true, maxAttempts: 2 } },
      appDataSource: app,
    });
    await harness.engine();
    const thrown = await harness.start('pay', 'throw');
    expect(await harness.ended(thrown)).toMatchObject({ status: 'completed', value: 2 });
    const lost = await harness.start('pay', 'lose');
    await waitFor('the claim to be taken away', () => taken);
    await waitFor('the worker to drop it', async () => (await harness.count('claims')) === 0);
    const rows: { id: string }[] = await app.query('SELECT id FROM paid');
    expect(rows.map((row) => row.id)).toEqual([thrown]);
    expect(await harness.status(lost)).toBe('pending');
  });

  it('hold their locks for a limited time if their host disappears before the COMMIT, and leave the session as it was', async () => {
    const timeout = async (runner: QueryRunner) => (await runner.query('SHOW idle_in_transaction_session_timeout'))[0];
    const seen: unknown[] = [];
    // What the server would do to a session that falls silent right before its COMMIT, and after it.
    const create = app.createQueryRunner.bind(app);
    const watched = new Proxy(app, {
      get: (target, key) =>
        key !== 'transaction'
          ? Reflect.get(target, key, target)
          : async (work: (manager: EntityManager) => Promise<unknown>) => {
              const runner = create();
              await runner.query(`SELECT set_config('idle_in_transaction_session_timeout', $1, false)`, [given]);
              await runner.startTransaction();
              await work(runner.manager);
              seen.push(await timeout(runner));
              await runner.commitTransaction();
              seen.push(await timeout(runner));
              await runner.query('RESET idle_in_transaction_session_timeout');
              await runner.release();
            },
    });
    let given = '0';
    const harness = await kit.open({ tasks: { pay: () => 1 }, policies: { pay: { transactional: true } }, appDataSource: watched });
    // A third of the silence after which the worker would be declared dead.
    await harness.engine({ deadAfterMs: 12_000 });
    for (given of ['0', '1min', '200ms']) await harness.ended(await harness.start('pay'));
    await waitFor('the last to be committed', () => seen.length === 6);
    const bounds = seen.map((row) => (row as { idle_in_transaction_session_timeout: string }).idle_in_transaction_session_timeout);
    expect(bounds).toEqual(['4s', '0', '4s', '1min', '200ms', '200ms']);
  });

  it('count no attempt when the rows of their result are locked for too long, and take effect once', async () => {
    await app.query('TRUNCATE paid');
    let runs = 0;
    const harness = await kit.open({
      tasks: {
        pay: async (_: unknown, { manager, executionId }: TaskContext) => {
          runs++;
          await pay(manager, executionId);
          return 'paid';
        },
      },
      policies: { pay: { transactional: true, maxAttempts: 1 } },
      appDataSource: app,
    });
    kit.expectProblems();
    const id = await harness.start('pay');
    await harness.store.db.transaction(async (db) => {
      await db.rows(sql('spec', `SELECT 1 FROM rhythm.executions WHERE id = '${id}' FOR UPDATE`));
      await harness.engine({ deadAfterMs: 3_000 });
      await waitFor('the result to be given up', () => harness.problems().some((problem) => problem.includes('lock timeout')));
    });
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', attempts: 0 });
    expect(runs).toBeGreaterThan(1);
    expect(await app.query('SELECT id FROM paid')).toEqual([{ id }]);
  });

  it('count no attempt when their connection is lost, unless they lose it again and again', async () => {
    await app.query('TRUNCATE paid');
    const calls = { once: 0, always: 0 };
    const harness = await kit.open({
      tasks: {
        pay: async (how: 'once' | 'always', { manager, executionId }: TaskContext) => {
          await pay(manager, executionId);
          if (++calls[how] === 1 || how === 'always') await manager.query('SELECT pg_terminate_backend(pg_backend_pid())');
          return 'paid';
        },
      },
      policies: { pay: { transactional: true, maxAttempts: 1 } },
      appDataSource: app,
      engine: { maxCrashes: 1 },
    });
    kit.expectProblems();
    await harness.engine();
    const [once, always] = await Promise.all([harness.start('pay', 'once'), harness.start('pay', 'always')]);
    expect(await harness.ended(once)).toMatchObject({ status: 'completed', value: 'paid', attempts: 0 });
    expect(await harness.ended(always)).toMatchObject({ status: 'failed', attempts: 1, error: { code: 'RHYTHM_UNREACHABLE' } });
    expect(calls).toEqual({ once: 2, always: 2 });
    expect(await app.query('SELECT id FROM paid')).toEqual([{ id: once }]);
  });
});
