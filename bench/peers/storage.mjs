// What runs leave in the database: rows, bytes, and how many updates were HOT.

import { gauged, perUnit, seconds, withConnection } from './gauged.mjs';

const STEPS = 20;
const IN_FLIGHT = 500;
const MB = 1e6;

const TABLES = `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name, tablename AS table FROM pg_tables
  WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`;
const SIZES = `SELECT sum(pg_total_relation_size(relid))::float8 AS total, sum(pg_indexes_size(relid))::float8 AS indexes FROM pg_stat_user_tables`;
const UPDATES = `SELECT relname AS table, n_tup_upd::float8 AS updates, n_tup_hot_upd::float8 AS hot FROM pg_stat_user_tables WHERE n_tup_upd > 0`;

/** Rows in all tables of the database, and their bytes. */
export async function storedRows(trial) {
  const tables = await withConnection(trial, countRows);
  const total = (number) => Object.values(tables).reduce((sum, table) => sum + table[number], 0);
  return { rows: total('rows'), bytes: total('bytes') };
}

/**
 * Workflows of 20 steps on one new worker, and what they leave: megabytes of all tables and indexes, rows per table, and the
 * percentage of updates that were HOT. Nothing is warmed up, because a warm-up would leave rows of its own.
 */
export async function leftByWorkflows(trial, runs) {
  const client = await trial.startClient();
  const workers = await trial.startWorkers(1, { concurrency: 1_000 });
  const { took, ...used } = await gauged(trial, workers, async () => ({
    took: await client.call('workflows', 'steps20', runs, IN_FLIGHT),
  }));
  // A server process reports its updates to the statistics at the latest when its connection ends.
  await Promise.all(workers.map((worker) => worker.end()));
  await client.end();
  const units = runs * STEPS;
  return {
    perSecond: units / seconds(took),
    ...perUnit(used, units),
    ...(await withConnection(trial, async (connection) => ({ ...(await sizes(connection)), ...(await hotUpdates(connection)) }))),
    ...Object.fromEntries(Object.entries(await withConnection(trial, countRows)).map(([table, { rows }]) => [`rows of ${table}`, rows])),
  };
}

async function countRows(connection) {
  const { rows: tables } = await connection.query(TABLES);
  const found = {};
  for (const { name, table } of tables) {
    const { rows } = await connection.query(
      `SELECT count(*)::int AS n, coalesce(sum(pg_column_size(t.*)), 0)::bigint AS bytes FROM ${name} t`,
    );
    found[table] = { rows: rows[0].n, bytes: Number(rows[0].bytes) };
  }
  return found;
}

async function sizes(connection) {
  const { total, indexes } = (await connection.query(SIZES)).rows[0];
  return { totalMB: total / MB, indexMB: indexes / MB };
}

async function hotUpdates(connection) {
  const { rows } = await connection.query(UPDATES);
  const percentage = (tables) => {
    const total = (number) => tables.reduce((sum, table) => sum + table[number], 0);
    return tables.length > 0 ? (100 * total('hot')) / total('updates') : undefined;
  };
  return { hotPercent: percentage(rows.filter(({ table }) => table === 'executions')), hotPercentAll: percentage(rows) };
}
