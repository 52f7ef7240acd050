// Retention: what the workers remove by themselves, what they keep, and what a removed run leaves behind.

import { describe, expect, it } from '@jest/globals';
import type { EngineOptions } from '../../libs/engine/index.js';
import {
  bucketOf,
  insertExecutions,
  type NewExecution,
  readResults,
  removeExecutions,
  requestCancel,
  retain,
  sendSignals,
  sql,
} from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';
import type { Harness } from './harness.js';

const DAY = 86_400_000;
const AGES = { completedMs: 30 * DAY, failedMs: 60 * DAY, cancelledMs: 30 * DAY, historyMs: null, keysMs: 90 * DAY };
const OFTEN: EngineOptions['retention'] = { ...AGES, pollMs: 20, walkEveryMs: 20 };
const BOUNDS = { look: 1_000, remove: 2_000, walkEveryMs: 0 };
const task = (id: string, extra: Partial<NewExecution> = {}): NewExecution => ({
  id,
  type: 'task',
  targetName: 't',
  queue: 'default',
  ...extra,
});

describe('retention', () => {
  const kit = useHarness();

  const age = (harness: Harness, days: number, where = 'true') =>
    harness.query(
      `UPDATE rhythm.executions SET created_at = created_at - $1::integer * interval '1 day', finished_at = finished_at - $1::integer * interval '1 day' WHERE ${where}`,
      [days],
    );
  const ids = async (harness: Harness) =>
    (await harness.query<{ id: string }>(`SELECT id FROM rhythm.executions ORDER BY id`)).map(({ id }) => id);
  const step = (harness: Harness, bounds = BOUNDS, ages = AGES) => harness.store.db.transaction((tx) => retain(tx, ages, bounds));
  /** Ended tasks, the oldest first. */
  const ended = async (harness: Harness, names: readonly string[], status = 'completed') => {
    await insertExecutions(
      harness.store.db,
      names.map((id) => task(id)),
    );
    await harness.query(`UPDATE rhythm.executions SET status = $2, finished_at = created_at WHERE id = ANY($1)`, [names, status]);
    await harness.query(`DELETE FROM rhythm.work_queue WHERE execution_id = ANY($1)`, [names]);
  };

  it('removes what ended longer ago than its status is kept, with everything it called, and nothing else', async () => {
    const harness = await kit.open({
      flows: {
        f: `console.log('hello'); await Task.run('ok'); await Workflow.run('g'); return await Workflow.run('g', 1, { id: 'own' });`,
        g: `return await Task.run('ok');`,
        bad: `throw new Error('no');`,
        waits: `await Task.run('ok'); await Signal.when('never');`,
      },
      tasks: { ok: () => 1 },
    });
    const first = await harness.engine();
    const old = await harness.start('f');
    const bad = await harness.start('bad');
    const waits = await harness.start('waits');
    await harness.ended(old);
    await harness.ended(bad);
    await waitFor('the run to wait', async () => (await harness.status(waits)) === 'suspended' && (await harness.count('claims')) === 0);
    await first.stop();
    await age(harness, 31);
    const young = await harness.start('g');
    await harness.engine({ retention: OFTEN });
    await harness.ended(young);
    await waitFor('the old run to be removed', async () => !(await ids(harness)).some((id) => id.startsWith(old) || id === 'own'));
    // A failed run is kept longer, a run that lives for ever.
    expect(await ids(harness)).toEqual(expect.arrayContaining([bad, waits, young]));
    for (const table of ['steps', 'history']) expect(await harness.count(table, `starts_with(execution_id, '${old}')`)).toBe(0);
    await age(harness, 31, `id = '${bad}'`);
    await waitFor('the failed run to be removed', async () => !(await ids(harness)).includes(bad));
    expect(await harness.count('marked_executions')).toBe(0);
    expect(await ids(harness)).toEqual(expect.arrayContaining([waits, young]));
  });

  it('keeps a child while its parent lives, and removes it with the parent', async () => {
    const harness = await kit.open({
      flows: { f: `await Workflow.run('g'); await Workflow.run('g', 1, { id: 'own' }); await Signal.when('go');`, g: `return 1;` },
    });
    await harness.engine();
    const id = await harness.start('f');
    await harness.ended('own');
    await waitFor('the run to wait', async () => (await harness.count('claims')) === 0 && (await harness.count('work_queue')) === 0);
    await age(harness, 100);
    expect((await step(harness)).removed).toEqual([]);
    expect(await ids(harness)).toEqual([id, `${id}:1`, 'own'].sort());
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    harness.store.hints.hint('work', 'default');
    await harness.ended(id);
    await age(harness, 100, `id = '${id}'`);
    expect((await step(harness)).removed.sort()).toEqual([id, `${id}:1`]);
    expect((await step(harness)).removed).toEqual(['own']);
  });

  it('passes living runs once per walk, however small the steps are, and goes on where it stopped', async () => {
    const harness = await kit.open({});
    const living = Array.from({ length: 40 }, (_, n) => `living-${n}`);
    await insertExecutions(
      harness.store.db,
      living.map((id) => task(id)),
    );
    await ended(harness, ['one', 'two', 'three', 'four']);
    await age(harness, 40);
    const looked: number[] = [];
    const removed: string[] = [];
    const small = { look: 10, remove: 2, walkEveryMs: DAY };
    let state = 'walking';
    while (state === 'walking') {
      const done = await step(harness, small);
      ({ state } = done);
      looked.push(done.looked);
      removed.push(...done.removed);
    }
    expect(removed.sort()).toEqual(['four', 'one', 'three', 'two']);
    // 40 living runs in four steps; then four that have ended, of which one step removes two and looks at the others again.
    expect(looked).toEqual([10, 10, 10, 10, 4, 2]);
    expect((await step(harness, small)).state).toBe('idle');
  });

  it('reads a page of a large table by the index on the time of the start', async () => {
    const harness = await kit.open({});
    await harness.query(
      `INSERT INTO rhythm.executions (id, bucket, type, target_name, queue, fence, status, created_at, finished_at)
       SELECT 'r' || n, 0, 'task', 't', 'default', 1, CASE WHEN n % 2 = 0 THEN 'completed' ELSE 'pending' END,
         now() - interval '100 days' + n * interval '1 second', CASE WHEN n % 2 = 0 THEN now() - interval '99 days' END
       FROM generate_series(1, 20000) n`,
    );
    await harness.query('ANALYZE rhythm.executions');
    const link = harness.store.link();
    try {
      const plan = await link.transaction(async (tx) => {
        const seen: { text: string; values: readonly unknown[] }[] = [];
        const spy = {
          rows: <Row>(statement: { name: string; text: string }, values: readonly unknown[] = []) => {
            if (statement.name === 'rhythm_retention_page') seen.push({ text: statement.text, values });
            return tx.rows<Row>(statement, values);
          },
        };
        await retain(spy, AGES, { look: 100, remove: 10, walkEveryMs: 0 });
        const [{ text, values }] = seen;
        return tx.rows<{ 'QUERY PLAN': string }>(sql('spec_plan', `EXPLAIN (ANALYZE, TIMING OFF) ${text}`), values);
      });
      const text = plan.map((row) => row['QUERY PLAN']).join('\n');
      expect(text).toContain('Index Scan using executions_created');
      expect(text).not.toContain('Seq Scan on executions');
      const rows = [...text.matchAll(/on executions e .*actual rows=(\d+)/g)].map(([, n]) => Number(n));
      expect(Math.max(...rows)).toBeLessThanOrEqual(102);
    } finally {
      await link.close();
    }
  });

  it('leaves a tombstone of a run whose id was chosen: a start of that id finds it, its result has expired, another input is a conflict', async () => {
    const harness = await kit.open({});
    const named = task('order-7', { input: '{"a":1,"b":[2]}' });
    await insertExecutions(harness.store.db, [named, task('key:t:7'), task('cron:daily:1'), task('00000000-fresh', { fresh: true })]);
    await harness.query(`UPDATE rhythm.executions SET status = 'completed', finished_at = created_at`);
    await age(harness, 40);
    expect((await step(harness)).removed).toHaveLength(4);
    expect((await harness.query<{ id: string }>('SELECT id FROM rhythm.tombstones ORDER BY id')).map(({ id }) => id)).toEqual([
      'cron:daily:1',
      'key:t:7',
      'order-7',
    ]);
    const again = await insertExecutions(harness.store.db, [
      task('order-7', { input: '{"b":[2],"a":1}' }),
      task('key:t:7', { input: '1' }),
      task('cron:daily:1', { targetName: 'other' }),
      task('new'),
    ]);
    expect(again).toEqual([
      { id: 'order-7', outcome: 'existing' },
      { id: 'key:t:7', outcome: 'conflict', differs: 'input' },
      { id: 'cron:daily:1', outcome: 'conflict', differs: 'name' },
      { id: 'new', outcome: 'created' },
    ]);
    const joined = await harness.store.db.transaction((tx) => insertExecutions(tx, [named], { inTransaction: true }));
    expect(joined).toEqual([{ id: 'order-7', outcome: 'existing' }]);
    expect(await ids(harness)).toEqual(['new']);
    expect(await readResults(harness.store.db, ['order-7', 'order-7:3', 'nobody'])).toMatchObject([
      { id: 'order-7', status: 'removed' },
      { id: 'order-7:3', status: 'removed' },
    ]);
  });

  it('does not start a child again whose id the flow chose and that was removed', async () => {
    const harness = await kit.open({
      flows: {
        f: `try { return await Workflow.run('g', 1, { id: 'own' }); } catch (e) { return e.code; }`,
        g: `return 'ran';`,
      },
    });
    await harness.engine();
    expect((await harness.ended(await harness.start('f'))).value).toBe('ran');
    expect(await removeExecutions(harness.store.db, ['own'])).toEqual(['own']);
    expect((await harness.ended(await harness.start('f'))).value).toBe('RHYTHM_CONFLICT');
    expect(await ids(harness)).not.toContain('own');
  });

  it('deletes tombstones, and signals to ids that never started a workflow, after the time that keys are kept', async () => {
    const harness = await kit.open({});
    await ended(harness, ['old', 'young']);
    await removeExecutions(harness.store.db, ['old', 'young']);
    await sendSignals(harness.store.db, [
      { executionId: 'nobody', name: 'go' },
      { executionId: 'not-yet', name: 'go' },
    ]);
    await harness.query(`UPDATE rhythm.tombstones SET removed_at = removed_at - interval '91 days' WHERE id = 'old'`);
    await harness.query(`UPDATE rhythm.signals SET created_at = created_at - interval '91 days' WHERE execution_id = 'nobody'`);
    await harness.engine({ retention: OFTEN });
    await waitFor(
      'the tombstone and the signal to be deleted',
      async () => (await harness.count('tombstones')) + (await harness.count('signals')) === 2,
    );
    expect(await harness.count('tombstones', `id = 'young'`)).toBe(1);
    expect(await harness.count('signals', `execution_id = 'not-yet'`)).toBe(1);
  });

  it('deletes events and tokens of executions that have ended or are gone, and no others', async () => {
    const harness = await kit.open({ flows: { f: `await Signal.when('go');` } });
    await ended(harness, ['done']);
    const living = await harness.start('f');
    const owner = [living, 'done', 'gone'];
    await harness.query(
      `INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call) SELECT id, bucket, 1, 'timer', 1 FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)`,
      [owner, owner.map(bucketOf)],
    );
    await harness.query(
      `INSERT INTO rhythm.completion_tokens (execution_id, bucket, hash, fence) SELECT id, bucket, id, 1 FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)`,
      [owner, owner.map(bucketOf)],
    );
    // No queue of the run: nothing but retention works here.
    await harness.engine({ retention: OFTEN, queues: ['nothing'] });
    await waitFor(
      'what is left to be deleted',
      async () => (await harness.count('inbox')) + (await harness.count('completion_tokens')) === 2,
    );
    expect(await harness.count('inbox', `execution_id = '${living}'`)).toBe(1);
    expect(await harness.count('completion_tokens', `execution_id = '${living}'`)).toBe(1);
  });

  it('deletes old entries in the history of a run that lives, and keeps the newer ones', async () => {
    const harness = await kit.open({
      flows: { f: `console.log('one'); await Signal.when('go'); console.log('two'); await Signal.when('never');` },
    });
    const engine = await harness.engine();
    const id = await harness.start('f');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    await waitFor('both lines', async () => (await harness.count('history', `kind = 'log'`)) === 2);
    await engine.stop();
    await age(harness, 10);
    await harness.query(`UPDATE rhythm.history SET at = at - interval '9 days' WHERE detail->>'message' = 'one'`);
    await harness.engine({ retention: { ...OFTEN, historyMs: 8 * DAY } });
    await waitFor('the old entry to be deleted', async () => (await harness.count('history', `detail->>'message' = 'one'`)) === 0);
    expect(await harness.count('history', `detail->>'message' = 'two'`)).toBe(1);
    expect(await ids(harness)).toEqual([id]);
  });

  it('removes the states of removed runs from the snapshot store, and those of runs that a time limit ended', async () => {
    const states = new Map<string, string>();
    let isDown = true;
    const snapshots = {
      thresholdBytes: 1,
      put: async (name: string, text: string) => {
        states.set(name, text);
        return name;
      },
      get: async (name: string) => states.get(name),
      remove: async (name: string) => {
        if (isDown) throw new Error('down');
        states.delete(name);
      },
    };
    kit.expectProblems();
    const harness = await kit.open({
      flows: {
        fails: `await Signal.when('go'); throw new Error('no');`,
        stays: `try { await Signal.when('never'); } finally { await Timer.sleep('1h'); }`,
      },
      snapshots,
      engine: { cancelGraceMs: 1 },
    });
    const first = await harness.engine();
    const failed = await harness.start('fails');
    const graced = await harness.start('stays');
    const isIdle = async () =>
      (await harness.count('executions', `snapshot_ref IS NOT NULL`)) === 2 && (await harness.count('claims')) === 0;
    await waitFor('the runs to wait', isIdle);
    await sendSignals(harness.store.db, [{ executionId: failed, name: 'go' }]);
    await requestCancel(harness.store.db, [graced]);
    harness.store.hints.hint('work', 'default');
    await harness.ended(failed);
    expect((await harness.ended(graced)).status).toBe('cancelled');
    // One is still needed, for a retry; one the store could not remove when it was replaced, and one the grace period left.
    await waitFor('what the store could not remove', async () => (await harness.count('discarded_snapshots')) === 2);
    expect(states.size).toBe(3);
    await first.stop();
    await removeExecutions(harness.store.db, [failed]);
    expect(await harness.count('discarded_snapshots')).toBe(3);
    isDown = false;
    await harness.query(`UPDATE rhythm.discarded_snapshots SET retry_at = now()`);
    await harness.engine({ retention: OFTEN });
    await waitFor('the store to be empty', async () => (await harness.count('discarded_snapshots')) === 0);
    expect(states.size).toBe(0);
  });
});
