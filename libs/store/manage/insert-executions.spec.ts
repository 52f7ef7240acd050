// A start whose id is taken by a run that is removed before it can be read is tried again.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { type Runner, sql } from '../connect/statement.js';
import type { NewExecution } from '../new-execution.js';
import { Store } from '../store.js';
import { insertExecutions } from './insert-executions.js';
import { removeExecutions } from './remove-execution.js';

const database = useTestDatabase();
let store: Store;

beforeAll(async () => {
  store = await Store.open({ url: database.url, schema: database.schema });
});
afterAll(() => store.close());

const rows = <Row>(text: string, values: unknown[] = []) => store.db.rows<Row>(sql('spec', text), values);
const daily = (id: string, input = '1'): NewExecution => ({ id, type: 'task', targetName: 't', queue: 'default', input });

/** So many times, the id is taken when the insert is tried, and free when the run is read. */
const removing = (id: string, times: number): Runner => {
  let left = times;
  return {
    async rows(statement, values) {
      if (statement.name !== 'rhythm_insert_executions' || left-- <= 0) return store.db.rows(statement, values as unknown[]) as never;
      await insertExecutions(store.db, [daily(id)]);
      const found = await store.db.rows(statement, values as unknown[]);
      await rows(`UPDATE rhythm.executions SET status = 'completed', finished_at = now() WHERE id = $1`, [id]);
      await rows(`DELETE FROM rhythm.work_queue WHERE execution_id = $1`, [id]);
      expect(await removeExecutions(store.db, [id], { wholly: true })).toEqual([id]);
      return found as never;
    },
  };
};

describe('a start with an id that is taken', () => {
  beforeEach(() => rows('TRUNCATE rhythm.executions, rhythm.work_queue'));

  it('creates the run when the one that was there is removed before it is read', async () => {
    const outcome = await insertExecutions(removing('daily', 1), [daily('fresh'), daily('daily', '2'), daily('daily', '2')]);
    expect(outcome.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['fresh', 'created'],
      ['daily', 'created'],
      ['daily', 'existing'],
    ]);
    expect(await rows('SELECT id, inputs::text AS input FROM rhythm.executions ORDER BY id')).toEqual([
      { id: 'daily', input: '2' },
      { id: 'fresh', input: '1' },
    ]);
    expect(await rows('SELECT execution_id AS id FROM rhythm.work_queue ORDER BY execution_id')).toEqual([
      { id: 'daily' },
      { id: 'fresh' },
    ]);
  });

  it('reports when the runs of that id come and go too fast to be read', async () => {
    expect(await insertExecutions(removing('daily', 1_000), [daily('daily'), daily('fresh')])).toEqual([
      { id: 'daily', outcome: 'contended' },
      { id: 'fresh', outcome: 'created' },
    ]);
  });
});
