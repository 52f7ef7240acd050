// The server does not accept the outcome of one execution: the others are written anyway, and nothing is lost.

import { describe, expect, it } from '@jest/globals';
import { getExecution, PoolRunner, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import type { Harness } from '../engine/harness.js';
import { waitFor } from '../support/index.js';

describe('a commit that the server cancels or refuses again and again', () => {
  const kit = useHarness();

  // The end of this execution fails with this code, whatever it is written with.
  async function refuseEndOf(harness: Harness, id: string, code: string): Promise<() => Promise<void>> {
    await harness.query(`CREATE OR REPLACE FUNCTION rhythm.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF new.status = 'completed' THEN RAISE EXCEPTION 'refused for the spec' USING ERRCODE = '${code}'; END IF;
      RETURN new; END $$`);
    await harness.query(
      `CREATE TRIGGER refuse BEFORE UPDATE ON rhythm.executions FOR EACH ROW WHEN (old.id = '${id}') EXECUTE FUNCTION rhythm.refuse()`,
    );
    return async () => void (await harness.query(`DROP TRIGGER refuse ON rhythm.executions`));
  }

  it.each(['57014', '42501', '53200', '55P03'])(
    'does not keep the others from being written (%s), leaves a note, and is written when the server accepts it',
    async (code) => {
      kit.expectProblems();
      let runs = 0;
      const harness = await kit.open({
        flows: { f: `return await Task.run('one');` },
        tasks: { one: () => 1, odd: () => ++runs },
      });
      await harness.start('odd', undefined, { id: 'offender' });
      const accept = await refuseEndOf(harness, 'offender', code);
      const others = [...(await Promise.all(Array.from({ length: 20 }, () => harness.start('one')))), await harness.start('f')];
      await harness.engine();
      for (const id of others) expect(await harness.ended(id)).toMatchObject({ status: 'completed', value: 1 });
      const later = await harness.start('f');
      expect(await harness.ended(later)).toMatchObject({ status: 'completed' });
      await waitFor('its note', async () => (await getExecution(harness.store.db, 'offender'))?.note);
      expect(await getExecution(harness.store.db, 'offender')).toMatchObject({
        status: 'running',
        note: expect.stringContaining(`refused for the spec (${code})`),
      });
      expect(harness.problems().join()).toContain('commit of offender, which is tried separately');
      await accept();
      expect(await harness.ended('offender')).toMatchObject({ status: 'completed', value: 1, attempts: 0, note: null });
      await waitFor('its claim to end', async () => (await harness.count('claims')) === 0);
    },
    60_000,
  );

  it('does not hold up the others while another transaction keeps its row locked', async () => {
    kit.expectProblems();
    const harness = await kit.open({ tasks: { one: () => 1 } });
    await harness.start('one', undefined, { id: 'locked' });
    const other = new PoolRunner({ url: kit.url, schema: kit.schema }, { max: 1 });
    await other.transaction(async (tx) => {
      await tx.rows(sql('spec', `SELECT 1 FROM rhythm.executions WHERE id = 'locked' FOR UPDATE`));
      await harness.engine();
      const ids = await Promise.all(Array.from({ length: 10 }, () => harness.start('one')));
      for (const id of ids) expect(await harness.ended(id, 20_000)).toMatchObject({ status: 'completed' });
      expect(await harness.status('locked')).toBe('running');
      // Its note cannot be written either, and must not wait for the row: the pool is shared.
      const refusals = () => harness.problems().filter((problem) => problem.includes('commit of locked')).length;
      await waitFor('it to be refused again', () => refusals() > 1, { timeoutMs: 20_000 });
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%SET note%'`;
      expect(await harness.query(waiting)).toEqual([]);
    });
    expect(await harness.ended('locked', 30_000)).toMatchObject({ status: 'completed', value: 1, attempts: 0 });
    await other.close();
  }, 60_000);

  it('is left to another worker by a shutdown', async () => {
    kit.expectProblems();
    const harness = await kit.open({ tasks: { one: () => 1 } });
    await harness.start('one', undefined, { id: 'offender' });
    const accept = await refuseEndOf(harness, 'offender', '53200');
    const engine = await harness.engine({ shutdownGraceMs: 0 });
    await waitFor('its note', async () => (await getExecution(harness.store.db, 'offender'))?.note);
    await engine.stop();
    await accept();
    await harness.engine();
    expect(await harness.ended('offender')).toMatchObject({ status: 'completed', value: 1 });
  }, 60_000);
});
