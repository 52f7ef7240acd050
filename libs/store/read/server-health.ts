// Reads how the server is operated: durability, archive, replicas, limits of sessions, age of transaction ids, dead rows of the queues.

import { type Runner, sql } from '../connect/statement.js';

/** How the server is operated, as far as this role may see it. */
export interface ServerHealth {
  fsync: boolean;
  fullPageWrites: boolean;
  /** As it applies to a new session of this role in this database. */
  synchronousCommit: string;
  archiveMode: string;
  walLevel: string;
  /** Segments that could not be archived since the last one that was; 0 if the archive works or is off. */
  archiveFailures: number;
  lastArchivedMs: number | null;
  replicas: Replica[];
  slots: Slot[];
  /** Milliseconds; 0 for no limit. */
  statementTimeout: number;
  lockTimeout: number;
  isolation: string;
  readOnlyByDefault: boolean;
  reservedConnections: number;
  autovacuum: boolean;
  xidAge: number;
  mxidAge: number;
  /** `autovacuum_freeze_max_age`. */
  freezeMaxAge: number;
}

/** A replica that is connected. Null where the role may not see it. */
export interface Replica {
  name: string;
  state: string | null;
  lagMs: number | null;
  lagBytes: number | null;
}

/** A replication slot: the server keeps the WAL from its position on. */
export interface Slot {
  name: string;
  active: boolean;
  keptBytes: number | null;
  /** `lost`: the WAL that it needs is gone. */
  walStatus: string | null;
}

/** A table whose rows come and go, and what vacuum has left in it. */
export interface QueueTable {
  table: string;
  live: number;
  dead: number;
  bytes: number;
  /** False where somebody has turned it off for this table. */
  autovacuum: boolean;
  /** Whether this role may vacuum it, as the workers do. */
  owned: boolean;
}

const ms = (name: string) => `(SELECT setting::integer FROM pg_settings WHERE name = '${name}')`;
const LOST = `CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn() ELSE pg_current_wal_lsn() END`;

const HEALTH = sql(
  'server_health',
  `SELECT current_setting('fsync')::boolean AS fsync, current_setting('full_page_writes')::boolean AS "fullPageWrites",
    current_setting('synchronous_commit') AS "synchronousCommit", current_setting('archive_mode') AS "archiveMode",
    current_setting('wal_level') AS "walLevel",
    (SELECT CASE WHEN a.last_failed_time > coalesce(a.last_archived_time, '-infinity') THEN a.failed_count ELSE 0 END::integer FROM pg_stat_archiver a) AS "archiveFailures",
    (SELECT (extract(epoch FROM now() - a.last_archived_time) * 1000)::float8 FROM pg_stat_archiver a) AS "lastArchivedMs",
    (SELECT coalesce(json_agg(json_build_object('name', coalesce(nullif(r.application_name, ''), host(r.client_addr), 'replica'), 'state', r.state,
        'lagMs', (extract(epoch FROM r.replay_lag) * 1000)::float8, 'lagBytes', pg_wal_lsn_diff(${LOST}, r.replay_lsn)::float8)), '[]') FROM pg_stat_replication r) AS replicas,
    (SELECT coalesce(json_agg(json_build_object('name', s.slot_name, 'active', s.active, 'walStatus', s.wal_status,
        'keptBytes', pg_wal_lsn_diff(${LOST}, s.restart_lsn)::float8)), '[]') FROM pg_replication_slots s) AS slots,
    ${ms('statement_timeout')} AS "statementTimeout", ${ms('lock_timeout')} AS "lockTimeout",
    current_setting('default_transaction_isolation') AS isolation, current_setting('default_transaction_read_only')::boolean AS "readOnlyByDefault",
    current_setting('superuser_reserved_connections')::integer AS "reservedConnections", current_setting('autovacuum')::boolean AS autovacuum,
    (SELECT age(d.datfrozenxid) FROM pg_database d WHERE d.datname = current_database()) AS "xidAge",
    (SELECT mxid_age(d.datminmxid) FROM pg_database d WHERE d.datname = current_database()) AS "mxidAge",
    current_setting('autovacuum_freeze_max_age')::integer AS "freezeMaxAge"`,
);

const QUEUE_TABLES = sql(
  'queue_tables',
  `SELECT c.relname AS table, coalesce(s.n_live_tup, 0)::float8 AS live, coalesce(s.n_dead_tup, 0)::float8 AS dead,
    pg_table_size(c.oid)::float8 AS bytes, NOT ('autovacuum_enabled=false' = ANY(coalesce(c.reloptions, '{}')) OR 'autovacuum_enabled=off' = ANY(coalesce(c.reloptions, '{}'))) AS autovacuum,
    pg_has_role(current_user, c.relowner, 'USAGE') AS owned
  FROM unnest(ARRAY['rhythm.work_queue', 'rhythm.scheduled_queue', 'rhythm.claims', 'rhythm.inbox', 'rhythm.executions']::regclass[]) AS t(oid)
  JOIN pg_class c ON c.oid = t.oid LEFT JOIN pg_stat_all_tables s ON s.relid = c.oid ORDER BY c.relname`,
);

// What rhythm.clock() says beyond the server's own time. It is replaced only in tests.
const CLOCK_AHEAD = sql('clock_ahead', `SELECT (extract(epoch FROM rhythm.clock() - statement_timestamp()) * 1000)::float8 AS ms`);

/** Reads how the server is operated. */
export async function readServerHealth(db: Runner): Promise<ServerHealth> {
  return (await db.rows<ServerHealth>(HEALTH))[0]!;
}

/** The tables whose rows come and go. The schema must be there. */
export async function readQueueTables(db: Runner): Promise<QueueTable[]> {
  return db.rows<QueueTable>(QUEUE_TABLES);
}

/** How far `rhythm.clock()` is ahead of the server's clock, in milliseconds. */
export async function readClockAhead(db: Runner): Promise<number> {
  return (await db.rows<{ ms: number }>(CLOCK_AHEAD))[0]!.ms;
}
