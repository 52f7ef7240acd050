// Steps in place that are taken out of the row of their run while they end, or that get a row just then.

import { describe, expect, it } from '@jest/globals';
import { getExecutions, newId, pauseExecutions, readTree, Store, sendSignals, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Handler } from '../engine/harness.js';
import { waitFor } from '../support/index.js';

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('steps that get rows', () => {
  const kit = useHarness();

  it('give their slots back when they get a row while they end', async () => {
    const harness = await kit.open({
      flows: { f: `for (let i = 0; i < 12; i++) await Task.run('report', i); return 'done';` },
      tasks: {
        report: async (_input, context) => {
          // Not awaited: the row is being written when the task returns.
          void context.heartbeat(1);
          await sleep(1);
        },
      },
      engine: { concurrency: 4 },
    });
    await harness.engine();
    expect((await harness.ended(await harness.start('f'))).value).toBe('done');
  });

  it('are written at the fence of their row when they end in the moment in which they get it', async () => {
    let end = (_: string) => {};
    let ends = 0;
    const store = await Store.open({
      url: kit.url,
      schema: kit.schema,
      intercept: async (name, run) => {
        const reply = await run();
        if (name === 'rhythm_promote_steps') {
          ends++;
          end('ended');
        }
        return reply;
      },
    });
    const report: Handler = (_input, context) => {
      void context.heartbeat(1);
      return new Promise((resolve) => {
        end = resolve;
      });
    };
    const harness = await kit.open({ flows: { f: `return await Task.run('report');` }, tasks: { report } });
    const engine = await harness.engine({}, store);
    expect((await harness.ended(await harness.start('f'))).value).toBe('ended');
    expect(ends).toBe(1);
    await engine.stop();
    await store.close();
  });

  it('are there once when their run cancels them and they end', async () => {
    let end = () => {};
    const slow = () =>
      new Promise((resolve) => {
        end = () => resolve('too late');
      });
    const flow = `let slow = Task.run('slow'); await Task.run('fast'); slow.cancel(); await Promise.allSettled([slow]); return await Task.run('fast');`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { slow, fast: async () => sleep(5) } });
    const engine = await harness.engine();
    let turns = 0;
    engine.events.subscribe((event) => {
      // The turn that cancels it is written, and nobody has read the cancel request yet.
      if (event.type === 'suspended' && ++turns === 2) end();
    });
    const id = await harness.start('f');
    expect((await harness.ended(id)).status).toBe('completed');
    await waitFor('the cancelled step', async () => (await harness.status(`${id}:1`)) === 'cancelled');
    expect((await readTree(harness.store.db, id)).map(({ id: found }) => found)).toEqual([id, `${id}:1`, `${id}:2`, `${id}:3`]);
  });

  it('are there once when they end with the turn that cancels them', async () => {
    const flow = `let one = Task.run('t'); let other = Task.run('t'); await one; other.cancel(); await Promise.allSettled([other]); return await Task.run('t');`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { t: () => 1 } });
    await harness.engine();
    const ids = await Promise.all(Array.from({ length: 5 }, () => harness.start('f')));
    for (const id of ids) {
      expect((await harness.ended(id)).status).toBe('completed');
      expect((await readTree(harness.store.db, id)).map(({ id: found }) => found).sort()).toEqual([id, `${id}:1`, `${id}:2`, `${id}:3`]);
    }
  });

  it('have no result when somebody has taken them from a run that goes on here', async () => {
    let end = () => {};
    let began = false;
    const slow = () => {
      began = true;
      return new Promise((resolve) => {
        end = () => resolve('not mine any more');
      });
    };
    const flow = `let slow = Task.run('slow'); await Signal.next('go'); return await Promise.race([slow, Signal.next('stop')]);`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { slow } });
    await harness.engine();
    const id = await harness.start('f');
    await waitFor('the attempt', () => began);
    expect(await pauseExecutions(harness.store.db, [`${id}:1`])).toEqual([`${id}:1`]);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go' }]);
    const turns = () => harness.events.filter(({ type }) => type === 'suspended').length;
    await waitFor('the turn of the signal', () => turns() >= 2);
    end();
    await waitFor('the end of the attempt', () => harness.events.some(({ type }) => type === 'lost'));
    expect((await getExecutions(harness.store.db, [`${id}:1`])).map(({ status }) => status)).toEqual(['paused']);
    expect(await harness.status(id)).toBe('suspended');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'stop', payload: '"stopped"' }]);
    expect((await harness.ended(id)).value).toBe('stopped');
  });

  it('are not in place with an option that PostgreSQL cannot read', async () => {
    kit.expectProblems();
    const harness = await kit.open({
      flows: {
        f: `return await Task.run('t', 1, { idempotencyKey: 'half a pair \\ud800' });`,
        g: `try { await Task.run('fails'); } catch { return 'caught'; }`,
      },
      tasks: {
        t: () => 1,
        fails: () => {
          throw new Error('It fails.');
        },
      },
    });
    await harness.engine();
    // As in a row of its own: the run fails.
    const refused = await harness.start('f');
    expect((await harness.ended(await harness.start('g'))).value).toBe('caught');
    expect((await harness.ended(refused)).status).toBe('failed');
    expect(await harness.count('execution_status')).toBeGreaterThan(0);
  });

  it('leave no claim behind when their worker stops', async () => {
    const flow = `return await Promise.all([Task.run('endless'), Task.run('endless')]);`;
    const harness = await kit.open({
      flows: { f: flow },
      tasks: { endless: () => new Promise(() => undefined) },
      engine: { shutdownGraceMs: 50 },
    });
    const engine = await harness.engine();
    // While a claim is in flight its slots are not free; of several runs some have their steps in place.
    await Promise.all(Array.from({ length: 4 }, () => harness.start('f')));
    await waitFor('the steps', async () => (await harness.count('executions', 'pending IS NOT NULL')) > 0);
    await engine.stop();
    expect(await harness.count('executions', 'pending IS NOT NULL')).toBe(0);
    expect(await harness.count('claims')).toBe(0);
  });

  it('are given back when their worker stops while they get their rows', async () => {
    const report: Handler = (_input, context) => {
      void context.heartbeat(1);
      return new Promise(() => undefined);
    };
    const flow = `return await Promise.all([Task.run('report'), Task.run('endless')]);`;
    const tasks = { report, endless: () => new Promise(() => undefined) };
    const harness = await kit.open({ flows: { f: flow }, tasks, engine: { shutdownGraceMs: 50 } });
    const engine = await harness.engine();
    const id = newId();
    let stopped: Promise<void> | undefined;
    await harness.store.db.transaction(async (tx) => {
      let isLocked = false;
      engine.events.subscribe((event) => {
        // Between the turn and the report.
        if (event.type !== 'claimed' || event.count !== 2) return;
        isLocked = true;
        void tx.rows(sql('spec_lock', 'SELECT FROM rhythm.executions WHERE id = $1 FOR UPDATE'), [id]);
      });
      await harness.start('f', undefined, { id });
      await waitFor('the lock', () => isLocked);
      await sleep(50);
      // Waits for the lock, behind the statement that gives the step its row.
      stopped = engine.stop();
      await sleep(200);
    });
    await stopped;
    expect(await harness.count('executions', `parent_id = '${id}' AND status = 'pending'`)).toBe(2);
    expect(await harness.count('work_queue')).toBe(2);
    expect(await harness.count('claims')).toBe(0);
  });

  it('are not those that a run waits for together, when they end one after the other', async () => {
    const flow = `return await Promise.all([Task.run('wait', 10), Task.run('wait', 40), Task.run('wait', 70), Task.run('wait', 100)]);`;
    const harness = await kit.open({ flows: { f: flow }, tasks: { wait: async (ms: never) => sleep(ms) } });
    await harness.engine();
    // Those of one run at least: while a claim is in flight its slots are not free, and the steps of a run get rows.
    await waitFor('the steps of a run to have no rows', async () => {
      const ids = await Promise.all(Array.from({ length: 3 }, () => harness.start('f')));
      for (const id of ids) expect((await harness.ended(id)).status).toBe('completed');
      return (await harness.count('steps')) >= 4;
    });
  });
});
