// A separate database for each spec file, dropped afterwards.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll } from '@jest/globals';
import pg from 'pg';
import { RUN_ID, SERVER_URL } from './test-run.js';

export interface TestDatabase {
  /** URL of the database. */
  readonly url: string;
  /** The schema for Rhythm's tables: `rhythm`, or a separate one where no database could be created. */
  readonly schema: string;
  drop(): Promise<void>;
}

/** Creates a database (or a schema, where CREATE DATABASE is not allowed). The caller drops it. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = serverUrl();
  const name = `rhythm_test_${process.env[RUN_ID]}_${randomBytes(5).toString('hex')}`;
  try {
    await onServer(server, `create database ${name}`);
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    await onServer(server, `create schema ${name}`);
    return { url: server, schema: name, drop: () => onServer(server, `drop schema if exists ${name} cascade`) };
  }
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, schema: 'rhythm', drop: () => onServer(server, `drop database if exists ${name} with (force)`) };
}

/** For the top of a spec file: creates a database before its first test and drops it after its last. */
export function useTestDatabase(): Omit<TestDatabase, 'drop'> {
  let database: TestDatabase | undefined;
  const created = (): TestDatabase => {
    if (!database) throw new Error('The test database is created in beforeAll: read url and schema inside a test or a hook.');
    return database;
  };
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(async () => {
    await database?.drop();
  });
  return {
    get url() {
      return created().url;
    },
    get schema() {
      return created().schema;
    },
  };
}

/** URL of the run's server, with its superuser (or the user of the given URL). */
export function serverUrl(): string {
  const url = process.env[SERVER_URL];
  if (!url)
    throw new Error(`${SERVER_URL} is not set. Run specs through jest with the repository's jest.config.mjs, which starts the server.`);
  return url;
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
