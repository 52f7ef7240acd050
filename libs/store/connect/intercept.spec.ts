// The seam for failing statements: every way to fail, on every kind of connection.

import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { useTestDatabase } from '../../../test/support/index.js';
import { insertExecutions } from '../manage/insert-executions.js';
import { createDataSource } from '../manage/migrate.js';
import { getExecution } from '../read/read-execution.js';
import { Store } from '../store.js';
import type { Intercept } from './intercept.js';
import { type Runner, sql } from './statement.js';

const INSERT = 'rhythm_insert_executions';

describe('an interceptor', () => {
  const database = useTestDatabase();
  let store: Store;
  let intercept: Intercept | undefined;
  let names: string[];
  beforeEach(async () => {
    names = [];
    intercept = undefined;
    store = await Store.open({
      ...{ url: database.url, schema: database.schema },
      intercept: (name, run) => {
        names.push(name);
        return intercept ? intercept(name, run) : run();
      },
    });
  });
  afterEach(() => store.close());

  const on = (name: string, way: (run: () => Promise<unknown[]>) => Promise<unknown[]>) => {
    intercept = (statement, run) => (statement === name ? way(run) : run());
  };
  const start = (db: Runner, id: string) => insertExecutions(db, [{ id, type: 'task', targetName: 't', queue: 'q' }]);
  const exists = async (id: string) => (await getExecution(store.db, id)) !== undefined;

  const failBefore = async () => {
    throw new Error('not sent');
  };
  const failAfter = async (run: () => Promise<unknown[]>) => {
    await run();
    throw new Error('reply lost');
  };

  describe.each(['pool', 'link', 'transaction', 'joined transaction'] as const)('of statements on a %s', (kind) => {
    const through = async (work: (db: Runner) => Promise<unknown>): Promise<unknown> => {
      if (kind === 'pool') return work(store.db);
      if (kind === 'transaction') return store.db.transaction(work);
      if (kind === 'link') {
        const link = store.link();
        return work(link).finally(() => link.close());
      }
      const source = await createDataSource({ url: database.url, schema: database.schema }).initialize();
      return source.transaction(async (manager) => work(await store.join(manager))).finally(() => source.destroy());
    };
    // A transaction that fails is rolled back, even if the statement itself took effect.
    const autocommit = kind === 'pool' || kind === 'link';

    it('sees them by name', async () => {
      await through((db) => start(db, `${kind} seen`));
      expect(names).toContain(INSERT);
      expect(await exists(`${kind} seen`)).toBe(true);
    });

    it('makes one fail before it is sent', async () => {
      on(INSERT, failBefore);
      await expect(through((db) => start(db, `${kind} before`))).rejects.toThrow('not sent');
      expect(await exists(`${kind} before`)).toBe(false);
    });

    it('makes one fail after it took effect', async () => {
      on(INSERT, failAfter);
      await expect(through((db) => start(db, `${kind} after`))).rejects.toThrow('reply lost');
      expect(await exists(`${kind} after`)).toBe(autocommit);
    });

    it('returns rows instead of sending it', async () => {
      on(INSERT, async () => [{ ids: [`${kind} instead`] }]);
      expect(await through((db) => start(db, `${kind} instead`))).toEqual([{ id: `${kind} instead`, outcome: 'created' }]);
      expect(await exists(`${kind} instead`)).toBe(false);
    });
  });

  it('loses the reply to the COMMIT of a transaction that has taken effect', async () => {
    on('rhythm_end', failAfter);
    await expect(store.db.transaction((db) => start(db, 'committed'))).rejects.toThrow('reply lost');
    expect(await exists('committed')).toBe(true);
    expect(await store.db.rows(sql('spec', 'SELECT 1 AS one'))).toEqual([{ one: 1 }]);
  });
});
