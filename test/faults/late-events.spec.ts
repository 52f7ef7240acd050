// Events that reach an execution at the moment it ends, or later: nothing of them stays.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { RhythmEvents, Task } from '../../src/index.js';
import { startApp, type TestApp } from '../e2e/start-app.js';
import { eventually, useTestDatabase } from '../support/index.js';

const waiting: (() => void)[] = [];

@Injectable()
class Tasks {
  @Task('wait')
  wait() {
    return new Promise<void>((resolve) => waiting.push(resolve));
  }

  @Task('quick')
  quick() {
    return 'quick';
  }
}

const FLOWS = [
  { name: 'one', source: 'return await Signal.when("go")' },
  {
    name: 'race',
    source: `
      await Promise.race([Signal.when("go"), Task.run("quick"), Timer.sleep(1), Promise.all([Task.run("quick"), Task.run("quick")])]);
      return 1;
    `,
  },
];

describe('late events', () => {
  let client: pg.Client;
  // Before the database is dropped.
  afterAll(() => client.end());
  const database = useTestDatabase();
  let app: TestApp;
  let resumed = 0;
  beforeAll(async () => {
    const imports = [TypeOrmModule.forRoot({ type: 'postgres', url: database.url })];
    app = await startApp(database, { flows: FLOWS }, { imports, providers: [Tasks] });
    app.app.get(RhythmEvents).subscribe(['resumed'], () => resumed++);
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
  });

  const left = async (id: string) => {
    const { events, signals, timers } = await app.executions.inspect(id);
    return { events, signals, timers };
  };
  const NOTHING = { events: [], signals: [], timers: [] };
  const result = (id: string) => app.executions.result(id, { timeout: '10s' });
  const locked = async () =>
    (await client.query(`SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)).rows.length;
  // The write of the execution's end waits until the work is done.
  const whileItsEndWaits = async (id: string, end: () => unknown, work: () => Promise<unknown>) => {
    await client.query('BEGIN');
    await client.query(`SELECT 1 FROM "${database.schema}".executions WHERE id = $1 FOR UPDATE`, [id]);
    try {
      await end();
      await eventually(async () => expect(await locked()).toBe(1));
      await work();
    } finally {
      await client.query('COMMIT');
    }
  };

  it('that are read while the run is ending are dropped with it', async () => {
    const { id } = await app.executions.start('one');
    await eventually(async () => expect((await app.executions.get(id)).status).toBe('suspended'));
    resumed = 0;
    await whileItsEndWaits(
      id,
      () => app.signals.send(id, 'go', 'first'),
      async () => {
        await app.signals.send(id, 'go', 'second');
        await eventually(() => expect(resumed).toBe(2));
      },
    );
    expect(await result(id)).toBe('first');
    await eventually(async () => expect(await left(id)).toEqual(NOTHING));
  });

  it('of a task that completes while its cancel is acted on are dropped', async () => {
    const { id } = await app.executions.start('wait');
    await eventually(() => expect(waiting).toHaveLength(1));
    await whileItsEndWaits(
      id,
      () => waiting.pop()?.(),
      async () => {
        await app.executions.cancel(id);
        // The worker has claimed the cancel when its wake has left the queue.
        await eventually(async () => expect((await app.executions.status()).queues.every((queue) => queue.waiting === 0)).toBe(true));
      },
    );
    await result(id);
    await eventually(async () => expect(await left(id)).toEqual(NOTHING));
  });

  it('of a sender that did not see the run, and commits after its end, are dropped', async () => {
    await app.app.get(DataSource).transaction(async (manager) => {
      expect(await app.signals.send('late', 'go', 1, { manager })).toMatchObject({ known: false });
      await app.executions.start('one', undefined, { id: 'late' });
      await app.signals.send('late', 'go', 2);
      expect(await result('late')).toBe(2);
      // The run has ended, and this signal is about to be committed for it. A worker may drop it before anybody else can see it.
      const late = await manager.query(`SELECT payload FROM "${database.schema}".signals WHERE execution_id = 'late'`);
      expect(late).toEqual([{ payload: 1 }]);
    });
    await eventually(async () => expect(await left('late')).toEqual(NOTHING));
  });

  it('of a sender that saw the run, which was removed before the commit, do not reach the next run of that id', async () => {
    await app.executions.start('one', undefined, { id: 'again' });
    await app.app.get(DataSource).transaction(async (manager) => {
      await app.executions.cancel('again', { manager });
      await app.signals.send('again', 'go', 1);
      await result('again');
      await app.executions.erase('again');
    });
    const { schema } = database;
    await eventually(async () =>
      expect((await client.query(`SELECT kind FROM "${schema}".inbox WHERE execution_id = 'again'`)).rows).toEqual([]),
    );
    await app.executions.start('one', undefined, { id: 'again' });
    await app.signals.send('again', 'go', 2);
    expect(await result('again')).toBe(2);
  });

  it('stay after none of many races', async () => {
    const other = await startApp(database, {}, { providers: [Tasks] });
    const ids: string[] = [];
    for (let round = 0; round < 20; round++) {
      const batch = (await app.executions.startMany(Array.from({ length: 25 }, () => ({ name: 'race' })))).map(({ id }) => id);
      ids.push(...batch);
      await Promise.all(batch.flatMap((id) => [app.signals.send(id, 'go'), other.signals.send(id, 'go')]));
    }
    await Promise.all(ids.map(result));
    await eventually(
      async () => {
        const found = await Promise.all(ids.map(async (id) => ({ id, ...(await left(id)) })));
        expect(found.filter(({ events, signals, timers }) => events.length + signals.length + timers.length > 0)).toEqual([]);
      },
      { timeoutMs: 20_000 },
    );
    await other.close();
  }, 60_000);
});
