// Migrates the schema to the version this code needs, once, however many processes start together.

import { DataSource, type QueryRunner } from 'typeorm';
import { migrations, SCHEMA_VERSION } from '../../../migrations/index.js';
import { quoteName } from '../connect/statement.js';
import { entities } from '../entities/index.js';
import { SchemaTooNewError, SchemaTooOldError } from '../errors.js';

export { SCHEMA_VERSION };

const LOCK_RETRY_MS = 100;

/** What a migration run did. */
export interface MigrationReport {
  /** The version found, 0 for an empty database. */
  before: number;
  after: number;
  /** Names of the migrations that ran. */
  applied: string[];
}

/** The DataSource of Rhythm's own tables. The caller initializes and destroys it. */
export function createDataSource(options: {
  url: string;
  schema: string;
  poolSize?: number;
  applicationName?: string;
  connectTimeoutMs?: number;
}): DataSource {
  return new DataSource({
    type: 'postgres',
    url: options.url,
    schema: options.schema,
    applicationName: options.applicationName ?? 'rhythm',
    entities: [...entities],
    migrations: [...migrations],
    migrationsTableName: 'migrations',
    synchronize: false,
    poolSize: options.poolSize ?? 2,
    installExtensions: false,
    connectTimeoutMS: options.connectTimeoutMs ?? 10_000,
  });
}

/** Runs what is missing under an advisory lock, so that several processes may start at once; the later ones find nothing to do. */
export async function migrate(dataSource: DataSource): Promise<MigrationReport> {
  // A role that may only use the tables can start on a schema that is up to date: nothing is created, not even conditionally.
  const found = await schemaVersion(dataSource);
  if (found > SCHEMA_VERSION || (found > 0 && (await pendingMigrations(dataSource)).length === 0))
    return { before: found, after: found, applied: [] };
  return underLock(dataSource, async () => {
    const schema = schemaOf(dataSource);
    await dataSource.query(`CREATE SCHEMA IF NOT EXISTS ${quoteName(schema)}`);
    const before = await schemaVersion(dataSource);
    if (before > SCHEMA_VERSION) return { before, after: before, applied: [] };
    const applied = await dataSource.runMigrations({ transaction: 'each' });
    return { before, after: await schemaVersion(dataSource), applied: applied.map((migration) => migration.name) };
  });
}

/** Takes the newest migration back. */
export async function migrateDown(dataSource: DataSource): Promise<void> {
  await underLock(dataSource, () => dataSource.undoLastMigration({ transaction: 'each' }));
}

/** The names of migrations that this code has and the database has not. */
export async function pendingMigrations(dataSource: DataSource): Promise<string[]> {
  const known = migrations.map((migration) => new migration().name);
  const table = `${quoteName(schemaOf(dataSource))}.migrations`;
  const [{ found }] = await dataSource.query(`SELECT to_regclass($1) IS NOT NULL AS found`, [table]);
  if (!found) return known;
  const done: { name: string }[] = await dataSource.query(`SELECT name FROM ${table}`);
  return known.filter((name) => !done.some((row) => row.name === name));
}

/** One migration as the statements it would run. */
export interface PlannedMigration {
  name: string;
  statements: string[];
}

/** What `migrate` or `migrateDown` would run now. Nothing is changed: the migrations get a query runner that only collects their statements. */
export async function planMigrations(dataSource: DataSource, direction: 'up' | 'down'): Promise<PlannedMigration[]> {
  const pending = await pendingMigrations(dataSource);
  const all = migrations.map((migration) => new migration());
  const chosen =
    direction === 'up' ? all.filter(({ name }) => pending.includes(name)) : all.filter(({ name }) => !pending.includes(name)).slice(-1);
  const plan: PlannedMigration[] = [];
  for (const migration of chosen) {
    const statements = direction === 'up' && plan.length === 0 ? [`CREATE SCHEMA IF NOT EXISTS ${quoteName(schemaOf(dataSource))}`] : [];
    const writer = { connection: dataSource, query: async (text: string) => void statements.push(text) } as unknown as QueryRunner;
    await migration[direction](writer);
    plan.push({ name: migration.name, statements });
  }
  return plan;
}

/** Throws if this code cannot work with the schema, and names the command that helps. */
export async function assertSchema(dataSource: DataSource): Promise<void> {
  const version = await schemaVersion(dataSource);
  if (version < SCHEMA_VERSION) throw new SchemaTooOldError(version, SCHEMA_VERSION, schemaOf(dataSource));
  const [{ min_code_version: needed }] = await dataSource.query(
    `SELECT min_code_version FROM ${quoteName(schemaOf(dataSource))}.schema_info WHERE id = 1`,
  );
  // Expand/contract: a newer schema is fine as long as it has taken nothing away that this code uses.
  if (needed > SCHEMA_VERSION) throw new SchemaTooNewError(version, SCHEMA_VERSION);
}

/** The version in the database, 0 when our tables are not there. */
export async function schemaVersion(dataSource: DataSource): Promise<number> {
  const table = `${quoteName(schemaOf(dataSource))}.schema_info`;
  const [{ found }] = await dataSource.query(`SELECT to_regclass($1) IS NOT NULL AS found`, [table]);
  if (!found) return 0;
  const rows: { version: number }[] = await dataSource.query(`SELECT version FROM ${table} WHERE id = 1`);
  return rows[0]?.version ?? 0;
}

// The lock belongs to a transaction on a connection of its own; TypeORM runs the migrations on another one of the pool. Behind
// a transaction pooler a session lock would not work: it would stay with the server connection, which another client gets next. A process
// that does not get the lock ends its transaction and tries again: waiting inside it would use up the connections of a small pooler.
async function underLock<T>(dataSource: DataSource, work: () => Promise<T>): Promise<T> {
  const holder = dataSource.createQueryRunner();
  const key = `rhythm.migrate.${schemaOf(dataSource)}`;
  try {
    for (;;) {
      await holder.startTransaction();
      try {
        // The connection that holds the lock is idle during a long migration, and must not be ended for that.
        await holder.query(`SET LOCAL idle_in_transaction_session_timeout = 0`);
        const [{ locked }] = await holder.query(`SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked`, [key]);
        if (locked) return await work();
      } finally {
        // A lost connection has released the lock by itself; the result of the work counts.
        await holder.rollbackTransaction().catch(() => undefined);
      }
      await new Promise((resolve) => setTimeout(resolve, LOCK_RETRY_MS));
    }
  } finally {
    await holder.release();
  }
}

function schemaOf(dataSource: DataSource): string {
  return (dataSource.options as { schema?: string }).schema ?? 'rhythm';
}
