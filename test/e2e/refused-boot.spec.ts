// An app that cannot work with its database does not boot, and says what to change; what only looks odd is a warning.

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { TypeOrmModule } from '@nestjs/typeorm';
import pg from 'pg';
import { ExecutionService, RhythmModule, type RhythmModuleOptions, Task } from '../../src/index.js';
import { useTestDatabase } from '../support/index.js';
import { quickOptions, SILENT, startApp } from './start-app.js';

const database = useTestDatabase();
let client: pg.Client;
beforeAll(async () => {
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

async function boot(options: RhythmModuleOptions, warnings: string[] = []) {
  const logger = { ...SILENT, warn: (message: string) => void warnings.push(message) };
  const module = await Test.createTestingModule({ imports: [RhythmModule.forRoot(quickOptions(database, options))] })
    .setLogger(logger)
    .compile();
  return module.init();
}

const named = () => new URL(database.url).pathname.slice(1);

describe('an app does not boot', () => {
  // Before the database is dropped.
  const role = `powerless_${process.pid}`;
  afterAll(async () => {
    await client.query(`drop owned by ${role}`).catch(() => undefined);
    await client.query(`drop role if exists ${role}`);
    await client.end();
  });

  it('as a role without rights, and says which to grant', async () => {
    await client.query(`create role ${role} login password 'p'`);
    const url = new URL(database.url);
    Object.assign(url, { username: role, password: 'p' });
    await expect(boot({ database: { url: url.href } as never })).rejects.toMatchObject({
      code: 'RHYTHM_DATABASE_REFUSED',
      message: expect.stringMatching(/lacks a right that it needs: permission denied .*own the schema .*autoMigrate to false, and grant/),
    });
  });

  it('on a server that takes no writes', async () => {
    await client.query(`alter database ${named()} set default_transaction_read_only = on`);
    try {
      await expect(boot({})).rejects.toMatchObject({
        code: 'RHYTHM_DATABASE_REFUSED',
        message: expect.stringMatching(/takes no writes: .*database\.readUrl to the replica.*default_transaction_read_only/),
      });
    } finally {
      await client.query(`alter database ${named()} reset default_transaction_read_only`);
    }
  });

  it.each(['pg_rhythm', 'PG_x'])('with the schema %s, whose name is PostgreSQL’s own', async (schema) => {
    await expect(boot({ database: { schema } as never })).rejects.toMatchObject({
      code: 'RHYTHM_INVALID_SETTING',
      message: expect.stringMatching(/database\.schema = \w+ .*does not begin with "pg_"/i),
    });
  });

  it.each<[string, string, RegExp]>([
    ['NUL', 'a\0b', /worker\.queues = .* has a name with a NUL character/],
    ['half of a surrogate pair', 'a\ud800', /worker\.queues = .* has a name with half of a surrogate pair/],
    ['too many characters', 'q'.repeat(201), /worker\.queues = .* has a name of 201 characters; the limit is 200/],
  ])('with a queue whose name has %s', async (_, queue, message) => {
    await expect(boot({ worker: { queues: ['default', queue] } })).rejects.toMatchObject({
      code: 'RHYTHM_INVALID_SETTING',
      message: expect.stringMatching(message),
    });
  });
});

describe('an app boots', () => {
  it('as a role that has only the rights that docs/operations.md names, and does its work', async () => {
    const modest = `modest_${process.pid}`;
    const admin = new pg.Client({ connectionString: database.url });
    await admin.connect();
    await (await boot({})).close();
    const { schema } = database;
    await admin.query(`create role ${modest} login password 'p'`);
    await admin.query(`grant usage on schema ${schema} to ${modest};
      grant select, insert, update, delete on all tables in schema ${schema} to ${modest};
      grant usage on all sequences in schema ${schema} to ${modest}`);
    const url = new URL(database.url);
    Object.assign(url, { username: modest, password: 'p' });
    try {
      class Tasks {
        @Task('double')
        double(n: number) {
          return 2 * n;
        }
      }
      const source = "await Timer.sleep(5); return await Task.run('double', await Signal.when('n'))";
      const app = await startApp(
        { url: url.href, schema },
        { autoMigrate: false, flows: [{ name: 'modest', source }] },
        { providers: [Tasks] },
      );
      const { id } = await app.executions.start('modest');
      await app.signals.send(id, 'n', 21);
      expect(await app.executions.result(id)).toBe(42);
      await app.executions.remove(id);
      await app.close();
    } finally {
      await admin.query(`drop owned by ${modest}`);
      await admin.query(`drop role ${modest}`);
      await admin.end();
    }
  });

  it('with a DataSource whose sessions have another time zone', async () => {
    class Tasks {
      @Task('pay', { transactional: true })
      pay() {}
    }
    const url = new URL(database.url);
    url.searchParams.set('options', '-c TimeZone=Asia/Kathmandu');
    const source = TypeOrmModule.forRoot({ type: 'postgres', url: url.href });
    const app = await startApp(database, {}, { providers: [Tasks], imports: [source] });
    await app.close();
  });

  it('as a second module on one schema, with a warning', async () => {
    const warnings: string[] = [];
    const first = await boot({}, warnings);
    expect(warnings).toEqual([]);
    const second = await boot({}, warnings);
    expect(warnings).toEqual([expect.stringMatching(/Two Rhythm modules of this process use the schema "\w+" of one database/)]);
    await Promise.all([first.close(), second.close()]);
    const third = await boot({}, warnings);
    expect(warnings).toHaveLength(1);
    await third.close();
  });

  it('without a flow that it had, and says so when that flow is started', async () => {
    const before = await boot({ flows: [{ name: 'deleted', source: 'return 1' }] });
    await before.close();
    const warnings: string[] = [];
    const after = await boot({ flows: [{ name: 'delete', source: 'return 2' }] }, warnings);
    for (let n = 0; n < 2; n++) await after.get(ExecutionService).start('deleted');
    expect(warnings).toEqual([expect.stringMatching(/"deleted" is not among the flows of this process.*Did you mean "delete"\?/)]);
    await after.close();
  });
});
