// Workflows at their edges: fan-out, groups, endless loops, children, versions, large state.

import { describe, expect, it } from '@jest/globals';
import { getExecution, readHistory } from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

describe('workflows', () => {
  const kit = useHarness();

  it('fan out to 10,000 tasks and are woken when they can move, not 10,000 times', async () => {
    const harness = await kit.open({
      flows: {
        wide: `let all = await Promise.all(Array.from({ length: 10000 }, (_, n) => Task.run('double', n))); return all.reduce((a, b) => a + b, 0);`,
      },
      tasks: { double: (n: number) => n * 2 },
    });
    await harness.engine({ concurrency: 500, claimBatch: 500 });
    const id = await harness.start('wide');
    expect(await harness.ended(id, 60_000)).toMatchObject({ status: 'completed', value: 99_990_000 });
    const turns = harness.events.filter((event) => event.type === 'resumed' && event.executionId === id).length;
    expect(turns).toBeLessThan(20);
    expect(await harness.count('resume_groups')).toBe(0);
  }, 90_000);

  it('settle a group as one by one delivery would: first failure, all settled, mixed with other awaits', async () => {
    const harness = await kit.open({
      flows: {
        mixed: `
          let results = [];
          try { await Promise.all([1, 2, 3, 4, 5].map((n) => Task.run('odd', n))); } catch (e) { results.push(e.message); }
          let settled = await Promise.allSettled([1, 2, 3].map((n) => Task.run('odd', n)));
          results.push(settled.map((s) => s.status).join());
          let early = Task.run('odd', 7);
          await Timer.sleep(20);
          let [a, b, [c, d]] = await Promise.all([early, Task.run('odd', 9), Promise.all([Task.run('odd', 11), Task.run('odd', 13)])]);
          results.push(a + b + c + d);
          return results;
        `,
      },
      tasks: {
        odd: (n: number) => {
          if (n % 2 === 0) throw new Error(`even ${n}`);
          return n;
        },
      },
    });
    await harness.engine();
    await harness.engine();
    const ids = await Promise.all(Array.from({ length: 20 }, () => harness.start('mixed')));
    for (const id of ids) {
      const { value } = await harness.ended(id);
      expect(value[0]).toMatch(/^even [24]$/);
      expect(value.slice(1)).toEqual(['fulfilled,rejected,fulfilled', 40]);
    }
  });

  it('loop without end in bounded storage', async () => {
    const harness = await kit.open({
      flows: {
        loop: `let sum = 0; for (let n = 0; n < Inputs.turns; n++) { sum += await Task.run('one'); console.log('turn ' + n); } return sum;`,
      },
      tasks: { one: () => 1 },
      engine: { maxSteps: 25 },
    });
    await harness.engine();
    const id = await harness.start('loop', { turns: 300 });
    expect(await harness.ended(id, 60_000)).toMatchObject({ value: 300 });
    expect(await harness.count('executions', `parent_id = '${id}'`)).toBeLessThanOrEqual(26);
    expect(await harness.count('history', `execution_id = '${id}'`)).toBeLessThanOrEqual(27);
    expect((await readHistory(harness.store.db, id)).at(-1)?.kind).toBe('completed');
  }, 90_000);

  it('keep one row and no history with maxSteps 0', async () => {
    const harness = await kit.open({
      flows: { loop: `for (let n = 0; n < 30; n++) await Task.run('one'); return 1;` },
      tasks: { one: () => 1 },
      engine: { maxSteps: 0 },
    });
    await harness.engine();
    const id = await harness.start('loop');
    await harness.ended(id);
    expect(await harness.count('executions')).toBe(1);
    expect(await harness.count('history')).toBe(0);
  });

  it('run children, detached children and children with ids of their own', async () => {
    const harness = await kit.open({
      flows: {
        parent: `
          let sum = await Workflow.run('child', { n: 1 });
          let detached = await Workflow.run('child', { n: 2 }, { detached: true });
          let named = await Workflow.run('child', { n: 3 }, { id: Inputs.name });
          let taken, missing;
          try { await Workflow.run('child', { n: 4 }, { id: Inputs.name }); } catch (e) { taken = e.code; }
          try { await Workflow.run('chlid'); } catch (e) { missing = e.code; }
          return { sum, detached, named, taken, missing };
        `,
        child: `return (await Task.run('inc', Inputs.n)) * 10;`,
      },
      tasks: { inc: (n: number) => n + 1 },
    });
    await harness.engine();
    const id = await harness.start('parent', { name: 'my-own-id' });
    const { value } = await harness.ended(id);
    expect(value).toMatchObject({ sum: 20, named: 40, taken: 'RHYTHM_CONFLICT', missing: 'RHYTHM_UNKNOWN_WORKFLOW' });
    expect(await harness.ended(value.detached)).toMatchObject({ value: 30, parentId: id });
    expect(await harness.ended('my-own-id')).toMatchObject({ value: 40 });
  });

  it('keep the version they started with while a new one is deployed', async () => {
    const harness = await kit.open({ flows: { v: `await Signal.when('go'); return 'old';` } });
    const first = await harness.engine();
    const old = await harness.start('v');
    await waitFor('it to wait', async () => (await harness.status(old)) === 'suspended');
    await first.stop();
    await harness.publish('v', `await Signal.when('go'); return 'new';`);
    await harness.engine();
    const young = await harness.start('v');
    const { sendSignals } = await import('../../libs/store/index.js');
    await sendSignals(
      harness.store.db,
      [old, young].map((executionId) => ({ executionId, name: 'go' })),
    );
    expect([(await harness.ended(old)).value, (await harness.ended(young)).value]).toEqual(['old', 'new']);
  });

  it('wait with a clear reason for a version that the database does not have', async () => {
    const harness = await kit.open({ flows: { v: `return 1;` } });
    await harness.engine();
    const id = await harness.start('v', undefined, { version: 'f'.repeat(64) });
    const record = await waitFor('the reason', async () => {
      const found = await getExecution(harness.store.db, id);
      return found?.note ? found : undefined;
    });
    expect(record).toMatchObject({ status: 'pending', note: expect.stringContaining('is not in the database') });
  });

  it('fail alone when their snapshot is damaged', async () => {
    const harness = await kit.open({ flows: { f: `await Signal.when('go'); return 1;` } });
    await harness.engine({ cachedRuns: 0 });
    const [bad, good] = [await harness.start('f'), await harness.start('f')];
    await waitFor('both to wait', async () => (await harness.count('workflow_execution_context')) === 2);
    await harness.query(`UPDATE rhythm.executions SET snapshot = '{"v":1,"damaged":true}' WHERE id = $1`, [bad]);
    const { sendSignals } = await import('../../libs/store/index.js');
    await sendSignals(
      harness.store.db,
      [bad, good].map((executionId) => ({ executionId, name: 'go' })),
    );
    expect(await harness.ended(good)).toMatchObject({ status: 'completed' });
    expect(await harness.ended(bad)).toMatchObject({ status: 'failed', error: { name: 'FlowSnapshotError' } });
  });

  it('never fire a timer early, from one millisecond on, even when no worker ran at its time', async () => {
    const harness = await kit.open({
      flows: {
        nap: `let before = Date.now(); await Timer.sleep(Inputs.ms); return Date.now() - before;`,
        long: `await Timer.sleep('3650d');`,
      },
    });
    const first = await harness.engine();
    for (const ms of [1, 5, 40]) {
      const { value } = await harness.ended(await harness.start('nap', { ms }));
      expect(value).toBeGreaterThanOrEqual(ms);
    }
    const long = await harness.start('long');
    const id = await harness.start('nap', { ms: 150 });
    await waitFor('both to sleep', async () => (await harness.count('scheduled_queue')) === 2);
    await first.stop();
    await waitFor('the time to pass', async () => (await harness.count('scheduled_queue', 'due_at < now()')) === 1);
    await harness.engine();
    expect((await harness.ended(id)).value).toBeGreaterThanOrEqual(150);
    expect(await harness.status(long)).toBe('suspended');
  });
});
