// Statements at 100,000 executions: none reads a whole table, and each reads no more pages than at any other size.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { listExecutions, moveDue, type Runner, readOverdue, removeExecutions, Store, sql } from '../../libs/store/index.js';
import { type ExplainedStatement, explained } from '../support/explained.js';
import { useTestDatabase } from '../support/index.js';
import { addDue, ENDED, fillTables, idOf } from '../support/many-rows.js';
import { STATEMENTS } from './statements.js';

const ROWS = 100_000;
// The first two have few rows whatever the load, the others none here (`waiting` has a spec of its own).
const SMALL = ['worker_heartbeats', 'claims', 'history', 'signals', 'waiting'];

describe('at 100,000 executions', () => {
  const database = useTestDatabase();
  let store: Store;
  beforeAll(async () => {
    store = await Store.open({ url: database.url, schema: database.schema });
    await fillTables(store.db, ROWS);
  }, 120_000);
  afterAll(() => store.close());

  /** What the statements of a call read; nothing that they write stays. */
  async function plansOf(call: (db: Runner) => Promise<unknown>): Promise<ExplainedStatement[]> {
    const undo = new Error('undo');
    let found: ExplainedStatement[] = [];
    const run = store.db.transaction(async (tx) => {
      const { runner, statements } = explained(tx);
      await call(runner);
      found = statements;
      throw undo;
    });
    await expect(run).rejects.toBe(undo);
    return found;
  }
  const expectFlat = (plans: readonly ExplainedStatement[], most: number) => {
    expect(plans.flatMap(({ scanned }) => scanned).filter((table) => !SMALL.includes(table))).toEqual([]);
    expect(plans.reduce((sum, { buffers }) => sum + buffers, 0)).toBeLessThanOrEqual(most);
  };

  it.each(Object.entries(STATEMENTS))('reads no whole table and few pages: %s', async (_name, { call, most }) => {
    expectFlat(await plansOf(call), most);
  });

  it('removes a batch of 200 whole', async () => {
    const undo = new Error('undo');
    const run = store.db.transaction(async (tx) => {
      const ids = ENDED.map(idOf);
      expect((await removeExecutions(tx, ids)).sort()).toEqual(ids);
      throw undo;
    });
    await expect(run).rejects.toBe(undo);
  });

  it('looks for time limits without reading a backlog of timers, and for timers without one of time limits', async () => {
    const undo = new Error('undo');
    const run = store.db.transaction(async (tx) => {
      await addDue(tx, 'timer', 10_000);
      const { runner, statements } = explained(tx);
      expect(await readOverdue(runner, 500)).toEqual([]);
      expectFlat(statements, 30);
      throw undo;
    });
    await expect(run).rejects.toBe(undo);
    // What was undone is dead, and walked until it is vacuumed.
    await store.db.rows(sql('spec', 'VACUUM rhythm.scheduled_queue'));
    const again = store.db.transaction(async (tx) => {
      await addDue(tx, 'deadline', 10_000);
      const { runner, statements } = explained(tx);
      expect(await moveDue(runner, 1_000)).toMatchObject({ moved: 0, overdue: true });
      expectFlat(statements, 60);
      throw undo;
    });
    await expect(again).rejects.toBe(undo);
  });

  it('lists page by page what is rare and old, with pages that are empty, each execution once', async () => {
    const seen: string[] = [];
    let cursor: string | undefined;
    let empty = 0;
    do {
      const page = await listExecutions(store.db, { queue: 'queued', limit: 1_000, cursor });
      if (page.items.length === 0) empty++;
      seen.push(...page.items.map(({ id }) => id));
      cursor = page.next;
    } while (cursor);
    expect(new Set(seen).size).toBe(ROWS / 20);
    expect(seen).toHaveLength(ROWS / 20);
    expect(empty).toBeGreaterThan(0);
  });
});
