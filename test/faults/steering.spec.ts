// Steering at the edges: retry behind a child with an id of its own, cancel of a run without its program, signals that are sent too late.

import { describe, expect, it } from '@jest/globals';
import { removeExecutions, requestCancel, retryExecution, sendSignals } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { waitFor } from '../support/index.js';

describe('steering', () => {
  const kit = useHarness();

  it('retries a failed child that has an id of its own, and its parent goes on', async () => {
    let broken = true;
    const harness = await kit.open({
      flows: { parent: `return await Workflow.run('child', undefined, { id: 'own-id' });`, child: `return await Task.run('pay');` },
      tasks: {
        pay: () => {
          if (broken) throw new Error('declined');
          return 'paid';
        },
      },
    });
    await harness.engine();
    const id = await harness.start('parent');
    expect((await harness.ended(id)).status).toBe('failed');
    broken = false;
    expect(await harness.store.db.transaction((tx) => retryExecution(tx, id))).toBe(true);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'paid' });
  });

  it.each(['before', 'after'])(
    'retries a failing turn that started a child with an id of its own, which ends %s the retry',
    async (when) => {
      const harness = await kit.open({
        flows: {
          parent: `
          const how = await Signal.when('go');
          const child = Workflow.run('child', undefined, { id: 'own-id' });
          if (how === 'badly') throw new Error('bug');
          return await child;
        `,
          child: `await Signal.when('end'); return 'answer';`,
        },
      });
      await harness.engine();
      const id = await harness.start('parent');
      await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"badly"' }]);
      expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { message: 'bug' } });
      const end = async () => {
        await sendSignals(harness.store.db, [{ executionId: 'own-id', name: 'end' }]);
        await harness.ended('own-id');
      };
      if (when === 'before') await end();
      const retry = async () => {
        expect(await harness.store.db.transaction((tx) => retryExecution(tx, id))).toBe(true);
        harness.store.hints.hint('work', 'default');
      };
      // The first retry fails in the same way, and leaves the child to the second.
      await retry();
      expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { message: 'bug' } });
      await harness.query(`UPDATE rhythm.signals SET payload = '"well"' WHERE execution_id = $1`, [id]);
      await retry();
      if (when === 'after') await end();
      expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 'answer' });
      expect(await harness.count('executions')).toBe(2);
    },
  );

  it('refuses to retry a run whose total timeout cancelled its children, and the parent of such a run', async () => {
    const harness = await kit.open({
      flows: {
        parent: `return await Workflow.run('f', undefined, { timeout: 50 });`,
        f: `return await Workflow.run('child');`,
        child: `await Signal.when('never');`,
      },
    });
    await harness.engine();
    const id = await harness.start('parent');
    expect(await harness.ended(id)).toMatchObject({ status: 'failed' });
    await harness.ended(`${id}:1:1`);
    const retry = (one: string) => harness.store.db.transaction((tx) => retryExecution(tx, one));
    const refusal = { code: 'RHYTHM_RETRY_REFUSED', executionId: `${id}:1`, message: expect.stringContaining('Start it again') };
    await expect(retry(`${id}:1`)).rejects.toMatchObject(refusal);
    await expect(retry(id)).rejects.toMatchObject(refusal);
    expect(await harness.status(id)).toBe('failed');
  });

  it('continues a run whose total timeout passed while it waited for no child', async () => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` } });
    await harness.engine();
    const id = await harness.start('f', undefined, { options: { totalTimeoutMs: 50 } });
    expect(await harness.ended(id)).toMatchObject({ status: 'failed', error: { name: 'TimeoutError' } });
    await harness.store.db.transaction((tx) => retryExecution(tx, id));
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '1' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 1 });
  });

  it('does not take away the state of a failed run that is retried while it is to be removed', async () => {
    const harness = await kit.open({
      flows: {
        f: `const how = await Signal.when('go'); if (how === 'badly') throw new Error('bug'); return [how, await Signal.when('go')];`,
      },
    });
    await harness.engine();
    const id = await harness.start('f');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '"badly"' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'failed' });
    await harness.query(`UPDATE rhythm.signals SET payload = '"well"' WHERE execution_id = $1`, [id]);
    let removing: Promise<string[]> = Promise.resolve([]);
    await harness.store.db.transaction(async (tx) => {
      expect(await retryExecution(tx, id)).toBe(true);
      removing = removeExecutions(harness.store.db, [id]);
      await waitFor('the removal to wait', async () => {
        const rows = await harness.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
        return rows.length > 0;
      });
    });
    expect(await removing).toEqual([]);
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '2' }]);
    expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: ['well', 2] });
  });

  it('rejects the second of two calls in one turn that ask for the same id', async () => {
    const harness = await kit.open({
      flows: {
        parent: `
          const ask = () => Workflow.run('child', undefined, { id: 'own-id' });
          const ends = await Promise.allSettled([ask(), ask()]);
          return ends.map((end) => end.value ?? end.reason.code);
        `,
        child: `return 'answer';`,
      },
    });
    await harness.engine();
    expect(await harness.ended(await harness.start('parent'))).toMatchObject({ value: ['answer', 'RHYTHM_CONFLICT'] });
  });

  it('cancels a run whose version is gone, and keeps no signal that came after its end', async () => {
    const harness = await kit.open({ flows: { f: `await Signal.when('never');` } });
    const first = await harness.engine();
    const id = await harness.start('f');
    await waitFor('the run to wait', async () => (await harness.status(id)) === 'suspended');
    await first.stop();
    await harness.query('UPDATE rhythm.executions SET version = $2 WHERE id = $1', [id, 'gone']);
    await requestCancel(harness.store.db, [id]);
    await harness.engine();
    expect((await harness.ended(id)).status).toBe('cancelled');
    await sendSignals(harness.store.db, [{ executionId: id, name: 'never', payload: '1' }]);
    await waitFor('the late signal to be dropped', async () => (await harness.count('signals')) === 0);
  });
});
