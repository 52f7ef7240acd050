// The engine behind a real PgBouncer in transaction mode: no session of its own, no named statements, no LISTEN.

import { afterEach, describe, expect, it } from '@jest/globals';
import { SCHEMA_VERSION, Store, schemaVersion, sendSignals, sql } from '../../libs/store/index.js';
import { useHarness } from '../engine/engine-spec.js';
import { createTestDatabase, waitFor } from '../support/index.js';
import { Bouncer, findBouncer, SERVER_CONNECTIONS } from './bouncer.js';

const program = findBouncer();

describe('behind PgBouncer', () => {
  if (!program) {
    it('is not tested on this machine: there is no pgbouncer (install it, e.g. apt-get install pgbouncer, and run this again)', () => {
      console.warn('NOT TESTED: the engine behind a transaction pooler. Install pgbouncer to run test/faults/pooler.spec.ts.');
    });
    return;
  }
  const kit = useHarness();
  const toClose: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of toClose.splice(0).reverse()) await close();
  });
  const bounce = async (url: string) => {
    const bouncer = await Bouncer.inFrontOf(url, program);
    toClose.push(() => bouncer.close());
    return bouncer;
  };

  it.each(['polling only', 'listening on a direct address'])(
    'runs start, task, signal, timer and end with more clients than sessions, %s',
    async (how) => {
      const harness = await kit.open({
        flows: {
          order: `
          let one = await Task.run('one');
          let approved = await Signal.when('approve', { timeout: '1h' });
          await Timer.sleep(20);
          let all = await Promise.all([Task.run('one'), Task.run('one'), Workflow.run('child')]);
          return { one, approved, all };
        `,
          child: `return await Task.run('one');`,
        },
        tasks: { one: () => 1 },
      });
      const bouncer = await bounce(kit.url);
      const directUrl = how === 'polling only' ? undefined : kit.url;
      const stores = await Promise.all(
        [1, 2].map(() => Store.open({ url: bouncer.url, schema: kit.schema, pooled: true, directUrl, applicationName: 'pooled' })),
      );
      for (const store of stores) toClose.push(() => store.close());
      const engines = await Promise.all(stores.map((store) => harness.engine({}, store)));
      toClose.push(() => Promise.all(engines.map((engine) => engine.stop())));
      const ids = await Promise.all(Array.from({ length: 20 }, () => harness.start('order')));
      for (const id of ids) {
        await waitFor(`${id} to wait`, async () => (await harness.status(id)) === 'suspended');
        await sendSignals(stores[0].db, [{ executionId: id, name: 'approve', payload: '"yes"' }]);
      }
      const value = { one: 1, approved: 'yes', all: [1, 1, 1] };
      for (const id of ids) expect(await harness.ended(id, 20_000)).toMatchObject({ status: 'completed', value });
      await waitFor('nothing to be held', async () => (await harness.count('claims')) + (await harness.count('work_queue')) === 0);
      expect(stores.map((store) => store.hints.listening)).toEqual(Array(2).fill(how !== 'polling only'));
    },
    60_000,
  );

  it('an engine that is not configured for it cannot connect', async () => {
    await kit.open({});
    const bouncer = await bounce(kit.url);
    const store = await Store.open({ url: bouncer.url, schema: kit.schema });
    toClose.push(() => store.close());
    const link = store.link();
    toClose.push(() => link.close());
    await expect(link.rows(sql('spec_one', 'SELECT 1'))).rejects.toThrow(/unsupported startup parameter/);
  });

  // A lock of a session would stay on the server connection that happened to take it, and the next start would wait forever.
  it('migrates an empty database once for more starts than it has sessions, and leaves no lock behind', async () => {
    const database = await createTestDatabase();
    toClose.push(() => database.drop());
    const bouncer = await bounce(database.url);
    const open = async () => {
      const store = await Store.open({ url: bouncer.url, schema: database.schema, pooled: true });
      toClose.push(() => store.close());
      return store;
    };
    const stores = await Promise.all(Array.from({ length: SERVER_CONNECTIONS + 2 }, open));
    for (let round = 0; round < 3; round++) stores.push(await open());
    expect(await schemaVersion(await stores[0].dataSource())).toBe(SCHEMA_VERSION);
    const direct = await Store.open({ url: database.url, schema: database.schema });
    toClose.push(() => direct.close());
    const held = await direct.db.rows(
      sql(
        'spec_locks',
        `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      ),
    );
    expect(held).toEqual([]);
  }, 60_000);
});
