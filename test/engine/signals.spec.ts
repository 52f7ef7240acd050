// Signals: stored whenever they are sent, delivered in order, never lost, never delivered twice.

import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import {
  countOrphanSignals,
  insertExecutions,
  newId,
  PoolRunner,
  type Runner,
  removeOrphanSignals,
  sendSignals,
} from '../../libs/store/index.js';
import { waitFor } from '../support/index.js';
import { useHarness } from './engine-spec.js';

const COLLECT = `
  let got = [];
  while (got.length < Inputs.count) got.push(await Signal.when('item'));
  return got;
`;

describe('signals', () => {
  const kit = useHarness();

  it('are delivered when they were sent before the start, between turns and twice with one key', async () => {
    const harness = await kit.open({ flows: { collect: COLLECT } });
    const id = newId();
    const send = (payload: unknown, dedupeKey?: string) =>
      sendSignals(harness.store.db, [{ executionId: id, name: 'item', payload: JSON.stringify(payload), dedupeKey }]);
    expect((await send('before'))[0]).toMatchObject({ accepted: true, known: false });
    await harness.engine();
    await harness.start('collect', { count: 4 }, { id });
    await waitFor('the first turn', async () => (await harness.status(id)) === 'suspended');
    await send('between');
    expect((await send('once', 'k'))[0].accepted).toBe(true);
    await waitFor('the keyed signal to be taken', async () => (await harness.count('signals', 'consumed_at IS NULL')) === 0);
    expect((await send('once again', 'k'))[0].accepted).toBe(false);
    await send('last');
    expect((await harness.ended(id)).value).toEqual(['before', 'between', 'once', 'last']);
  });

  it('keep the order in which they were sent, over many turns', async () => {
    const harness = await kit.open({ flows: { collect: COLLECT } });
    await harness.engine();
    await harness.engine();
    const id = await harness.start('collect', { count: 200 });
    for (let n = 0; n < 200; n++) await sendSignals(harness.store.db, [{ executionId: id, name: 'item', payload: String(n) }]);
    expect((await harness.ended(id)).value).toEqual(Array.from({ length: 200 }, (_, n) => n));
  });

  it('time out, and the loser of the race does not eat the next signal', async () => {
    const harness = await kit.open({
      flows: {
        patient: `
          let first;
          try { first = await Signal.when('go', { timeout: 30 }); } catch (e) { first = e.name; }
          return [first, await Signal.when('go')];
        `,
      },
    });
    await harness.engine();
    const id = await harness.start('patient');
    await waitFor(
      'the timeout to pass',
      async () =>
        (await harness.status(id)) === 'suspended' &&
        (await harness.count('scheduled_queue')) === 0 &&
        (await harness.count('inbox')) === 0,
    );
    await sendSignals(harness.store.db, [{ executionId: id, name: 'go', payload: '1' }]);
    expect((await harness.ended(id)).value).toEqual(['TimeoutError', 1]);
  });

  // The sender's transaction sees no execution; the run starts, takes its first turn and suspends; only then does the sender commit.
  it('are not lost when the run started and suspended while the sender had not committed', async () => {
    const harness = await kit.open({ flows: { collect: COLLECT } });
    await harness.engine();
    const id = newId();
    const client = new pg.Client({ connectionString: kit.url });
    await client.connect();
    try {
      await client.query('BEGIN');
      const runner: Runner = {
        rows: async (statement, values) =>
          (await client.query(statement.text.replaceAll('rhythm.', `"${kit.schema}".`), values as unknown[])).rows,
      };
      await sendSignals(runner, [{ executionId: id, name: 'item', payload: '"late"' }]);
      await harness.start('collect', { count: 1 }, { id });
      await waitFor(
        'the run to suspend without the signal',
        async () => (await harness.status(id)) === 'suspended' && (await harness.count('work_queue')) === 0,
      );
      await client.query('COMMIT');
      expect((await harness.ended(id)).value).toEqual(['late']);
    } finally {
      await client.end();
    }
  });

  it('for ids that never start are removed by retention, and no others', async () => {
    const harness = await kit.open({ flows: { f: `return await Signal.when('go');` } });
    const id = await harness.start('f');
    const signal = (executionId: string) => ({ executionId, name: 'go', payload: '1' });
    await sendSignals(harness.store.db, [signal('nobody'), signal('nobody'), signal('new'), signal(id)]);
    await harness.query(`UPDATE rhythm.signals SET created_at = created_at - interval '2 days' WHERE execution_id <> 'new'`);
    const before = new Date(Date.now() - 86_400_000);
    expect(await countOrphanSignals(harness.store.db, before)).toBe(2);
    expect(await removeOrphanSignals(harness.store.db, before, 1)).toBe(1);
    expect(await removeOrphanSignals(harness.store.db, before)).toBe(1);
    expect(await removeOrphanSignals(harness.store.db, before)).toBe(0);
    await harness.engine();
    expect(await harness.ended(id)).toMatchObject({ value: 1 });
    expect(await harness.ended(await harness.start('f', undefined, { id: 'new' }))).toMatchObject({ value: 1 });
  });

  it('sent in a transaction that rolls back never were', async () => {
    const harness = await kit.open({ flows: { collect: COLLECT } });
    const pool = new PoolRunner({ url: kit.url, schema: kit.schema }, { max: 1 });
    const id = newId();
    await expect(
      pool.transaction(async (tx) => {
        await insertExecutions(tx, [{ id, type: 'workflow', targetName: 'collect', queue: 'default', version: 'v' }]);
        await sendSignals(tx, [{ executionId: id, name: 'item' }]);
        throw new Error('the caller thought better of it');
      }),
    ).rejects.toThrow('thought better');
    await pool.close();
    for (const table of ['executions', 'signals', 'work_queue', 'scheduled_queue'])
      expect(
        await harness.count(
          table,
          table === 'executions'
            ? `id = '${id}'`
            : table === 'work_queue' || table === 'signals' || table === 'scheduled_queue'
              ? `execution_id = '${id}'`
              : 'true',
        ),
      ).toBe(0);
  });
});
