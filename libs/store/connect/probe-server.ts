// Reads facts about the server itself, for diagnosis: its version, its clock, long transactions, a pooler in between.

import type { ConnectionOptions } from './connection-options.js';
import { EngineConnection } from './engine-connection.js';
import { type Runner, sql } from './statement.js';

/** What a server reports about itself. */
export interface ServerFacts {
  /** As `server_version_num`: 160004 is 16.4. */
  versionNumber: number;
  version: string;
  /** A replica takes no writes. */
  readOnly: boolean;
  maxConnections: number;
  usedConnections: number;
  /** Milliseconds since the epoch by the server's own clock, not by `rhythm.clock()`. */
  now: number;
}

/** A transaction that has been open for a long time: it holds back vacuum, which slows the queues down. */
export interface LongTransaction {
  pid: number;
  user: string;
  application: string;
  state: string;
  ageMs: number;
  query: string;
}

const SERVER = sql(
  'probe_server',
  `SELECT current_setting('server_version_num')::integer AS "versionNumber", current_setting('server_version') AS version,
    pg_is_in_recovery() AS "readOnly", current_setting('max_connections')::integer AS "maxConnections",
    (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS "usedConnections",
    (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now`,
);

const LONG = sql(
  'long_transactions',
  `SELECT pid, coalesce(usename, '') AS user, application_name AS application, coalesce(state, '') AS state,
    (extract(epoch FROM now() - xact_start) * 1000)::float8 AS "ageMs", left(query, 120) AS query
  FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start < now() - make_interval(secs => $1)
  ORDER BY xact_start LIMIT 20`,
);

const BACKEND = sql('backend_pid', `SELECT pg_backend_pid() AS pid`);

/** Reads what the server reports about itself. */
export async function probeServer(db: Runner): Promise<ServerFacts> {
  return (await db.rows<ServerFacts>(SERVER))[0]!;
}

/** Transactions of this database that have been open for longer than this, the oldest first. */
export async function longTransactions(db: Runner, seconds: number): Promise<LongTransaction[]> {
  return db.rows(LONG, [seconds]);
}

/**
 * Whether the address leads to a transaction pooler. Two sessions that are open at once have two backends; behind such a
 * pooler they take turns on one.
 */
export async function isTransactionPooler(options: ConnectionOptions): Promise<boolean> {
  const sessions = await Promise.all([open(options), open(options)]);
  try {
    const pids: number[] = [];
    // One after the other: the pooler then has a free backend to reuse.
    for (const session of sessions) pids.push((await session.rows<{ pid: number }>(BACKEND))[0]!.pid);
    return pids[0] === pids[1];
  } finally {
    await Promise.all(sessions.map((session) => session.close()));
  }
}

// As it works behind a pooler: no startup options, no named statements.
function open(options: ConnectionOptions): Promise<EngineConnection> {
  return EngineConnection.open({ ...options, pooled: true });
}
