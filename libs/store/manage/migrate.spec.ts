// The migrations on a real database: up, down, with data, by five processes at once, and equal to the entities.

import { afterAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { useTestDatabase } from '../../../test/support/index.js';
import {
  assertSchema,
  createDataSource,
  migrate,
  migrateDown,
  pendingMigrations,
  planMigrations,
  SCHEMA_VERSION,
  schemaVersion,
} from './migrate.js';

describe('migrate', () => {
  const database = useTestDatabase();
  const open: DataSource[] = [];
  const connect = async (schema: string) => {
    const source = await createDataSource({ url: database.url, schema }).initialize();
    open.push(source);
    return source;
  };
  afterAll(async () => {
    await Promise.all(open.map((source) => source.destroy()));
  });

  it('needs no right to create anything when the schema is up to date', async () => {
    await migrate(await connect('may_only_use'));
    // A session that can only read is refused a CREATE SCHEMA IF NOT EXISTS as well, as is a role without the right to create.
    process.env.PGOPTIONS = '-c default_transaction_read_only=on';
    try {
      const source = await connect('may_only_use');
      expect(await migrate(source)).toEqual({ before: SCHEMA_VERSION, after: SCHEMA_VERSION, applied: [] });
      await expect(migrate(await connect('is_not_there'))).rejects.toThrow('read-only transaction');
    } finally {
      delete process.env.PGOPTIONS;
    }
  });

  it('leaves no difference between the entities and the tables, in a schema of any name', async () => {
    for (const schema of ['rhythm', 'other_name']) {
      const source = await connect(schema);
      await migrate(source);
      // The defaults of entities are written for the schema `rhythm`. PostgreSQL prints the function with its schema, or without if
      // that is on the search path (the user's name).
      const [{ clock }] = await source.query(
        `SELECT column_default AS clock FROM information_schema.columns WHERE table_schema = $1 AND table_name = 'executions' AND column_name = 'created_at'`,
        [schema],
      );
      expect([`${schema}.clock()`, 'clock()']).toContain(clock);
      for (const column of source.entityMetadatas.flatMap(({ columns }) => columns)) {
        if (column.default instanceof Function && column.default() === 'rhythm.clock()') column.default = () => clock;
      }
      const { upQueries } = await source.driver.createSchemaBuilder().log();
      expect(upQueries.map((query) => query.query)).toEqual([]);
    }
  });

  it('runs once when five processes start together', async () => {
    const sources = await Promise.all(Array.from({ length: 5 }, () => connect('together')));
    const reports = await Promise.all(sources.map((source) => migrate(source)));
    expect(reports.filter((report) => report.applied.length > 0)).toHaveLength(1);
    expect(reports.map((report) => report.after)).toEqual(Array(5).fill(SCHEMA_VERSION));
    expect(await pendingMigrations(sources[0])).toEqual([]);
  });

  it('goes down and up again on a database with data', async () => {
    const source = await connect('updown');
    await migrate(source);
    await source.query(
      `INSERT INTO updown.executions (fence, id, bucket, type, target_name, queue) SELECT 7, 'r' || n, 1, 'task', 't', 'default' FROM generate_series(1, 100) n`,
    );
    await migrateDown(source);
    expect(await schemaVersion(source)).toBe(0);
    expect((await migrate(source)).after).toBe(SCHEMA_VERSION);
    await assertSchema(source);
  });

  it('refuses an older schema, with the command that updates it', async () => {
    const source = await connect('empty');
    await expect(assertSchema(source)).rejects.toThrow(/npx rhythm migrate/);
    expect(await pendingMigrations(source)).toHaveLength(1);
    const [plan] = await planMigrations(source, 'up');
    expect(plan.statements.join('\n')).toContain('CREATE TABLE "empty".executions');
    expect(await planMigrations(source, 'down')).toEqual([]);
  });

  it('accepts a newer schema until it has taken something away', async () => {
    const source = await connect('newer');
    await migrate(source);
    await source.query(`UPDATE newer.schema_info SET version = 7`);
    await assertSchema(source);
    expect((await migrate(source)).after).toBe(7);
    await source.query(`UPDATE newer.schema_info SET min_code_version = 7`);
    await expect(assertSchema(source)).rejects.toThrow(/Update nestjs-rhythm/);
  });
});
