// The first schema: runs, their queues and events, the claims of workers, and the definitions of workflows.

import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Initial1763424000000 implements MigrationInterface {
  name = 'Initial1763424000000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement.replace(/\brhythm\./g, `${schemaOf(runner)}.`));
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement.replace(/\brhythm\./g, `${schemaOf(runner)}.`));
  }
}

function schemaOf(runner: QueryRunner): string {
  const { schema } = runner.connection.options as { schema?: string };
  return `"${(schema ?? 'rhythm').replaceAll('"', '""')}"`;
}

// `COLLATE "C"` on ids and queue names: byte order is faster to compare, and the children of a run are one range of the key.
// fillfactor 40 leaves room on the page for the one or two updates of a run, so that they are HOT updates.
// In `executions`, columns that never change come first and those that every update writes come last: an update logs the bytes
// between the first and the last change, so inputs and names are not written to the WAL again (task end 350 → 165 bytes). What a
// turn in the middle of a run leaves as it is (its first start, its status, its worker) stands before the fence for the same reason.
const UP = [
  // The time of all executions: every statement and every default reads it, so that a test can replace it and move time. The planner
  // inlines it, so it costs nothing at run time and indexes on times are used as before.
  // It is the start of the statement and not of the transaction (now()): a start or a signal may be part of a long transaction of the
  // caller, and a delay counts from the call. It is not clock_timestamp(), which is volatile and could not be used by an index.
  // Whether a worker is alive is a matter of real time, so heartbeats have defaults of their own.
  // RETURN instead of a string: the body is parsed once, here, and does not depend on the search_path of its callers.
  `CREATE FUNCTION rhythm.clock() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE RETURN statement_timestamp()`,
  `CREATE SEQUENCE rhythm.queue_seq`,
  `CREATE SEQUENCE rhythm.event_seq`,
  `CREATE SEQUENCE rhythm.activation_seq`,
  `CREATE TABLE rhythm.executions (
    created_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    bucket smallint NOT NULL,
    priority smallint NOT NULL DEFAULT 0,
    parent_call integer,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    target_name text NOT NULL,
    queue text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    version text,
    inputs json,
    inputs_verbatim json,
    options jsonb,
    tags text[],
    input_hash text COLLATE "C",
    started_at timestamptz,
    cancelled_at timestamptz,
    attempts integer NOT NULL DEFAULT 0,
    crashes smallint NOT NULL DEFAULT 0,
    status text NOT NULL DEFAULT 'pending',
    worker_id text,
    finished_at timestamptz,
    progress jsonb,
    note text,
    snapshot_ref text,
    snapshot text,
    calls integer,
    turns integer,
    fence bigint NOT NULL,
    pending text,
    output json,
    output_verbatim json,
    error jsonb,
    CONSTRAINT executions_pkey PRIMARY KEY (id, bucket)
  ) WITH (fillfactor = 40)`,
  `CREATE INDEX executions_created ON rhythm.executions (created_at)`,
  // Both are of columns that never change, and cost nothing for tasks without tags. For lists by a rare name or tag.
  `CREATE INDEX executions_workflows ON rhythm.executions (target_name, created_at) WHERE type = 'workflow'`,
  `CREATE INDEX executions_tags ON rhythm.executions USING gin (tags) WHERE tags IS NOT NULL`,
  `CREATE INDEX executions_own_ids ON rhythm.executions (parent_id) WHERE parent_id IS NOT NULL AND NOT starts_with(id, parent_id || ':')`,
  // A step that ends in the turn that consumes its result is one row, written once. Nothing but the end of its run or a newer step
  // ever deletes it.
  `CREATE TABLE rhythm.steps (
    started_at timestamptz NOT NULL,
    finished_at timestamptz NOT NULL,
    call integer NOT NULL,
    started_turn integer NOT NULL,
    consumed_turn integer NOT NULL,
    bucket smallint NOT NULL,
    execution_id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    worker_id text NOT NULL,
    input text,
    output text,
    unusual jsonb,
    CONSTRAINT steps_pkey PRIMARY KEY (execution_id, bucket, call)
  )`,
  // The last states of runs, if they are kept (history.snapshots).
  `CREATE TABLE rhythm.snapshots (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    turn integer NOT NULL,
    stored_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    fingerprint text,
    state json,
    state_ref text,
    pending_calls json NOT NULL,
    CONSTRAINT snapshots_pkey PRIMARY KEY (execution_id, bucket, turn)
  )`,
  `CREATE TABLE rhythm.work_queue (
    seq bigint NOT NULL,
    fence bigint,
    rank smallint NOT NULL,
    bucket smallint NOT NULL,
    queue text COLLATE "C" NOT NULL,
    lane text COLLATE "C" NOT NULL DEFAULT '',
    execution_id text COLLATE "C" NOT NULL,
    CONSTRAINT work_queue_pkey PRIMARY KEY (queue, lane, rank, seq, bucket)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
  `CREATE TABLE rhythm.scheduled_queue (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    kind text COLLATE "C" NOT NULL,
    call bigint NOT NULL,
    due_at timestamptz NOT NULL,
    fence bigint,
    CONSTRAINT scheduled_queue_pkey PRIMARY KEY (execution_id, bucket, kind, call)
  )`,
  // Each row is in one of these, by what is done with it when it is due: a backlog of one kind is not walked to find another.
  `CREATE INDEX scheduled_queue_runs ON rhythm.scheduled_queue (due_at) WHERE kind = 'run'`,
  `CREATE INDEX scheduled_queue_timers ON rhythm.scheduled_queue (due_at) WHERE kind = ANY('{timer,timeout,wake}'::text[])`,
  `CREATE INDEX scheduled_queue_limits ON rhythm.scheduled_queue (due_at) WHERE kind = ANY('{deadline,start,grace}'::text[])`,
  `CREATE TABLE rhythm.inbox (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    seq bigint NOT NULL,
    kind text NOT NULL,
    call integer NOT NULL,
    payload json,
    CONSTRAINT inbox_pkey PRIMARY KEY (execution_id, bucket, seq)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
  `CREATE TABLE rhythm.signals (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    seq bigint NOT NULL,
    name text NOT NULL,
    payload json,
    dedupe_key text COLLATE "C",
    created_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    consumed_at timestamptz,
    CONSTRAINT signals_pkey PRIMARY KEY (execution_id, bucket, seq)
  )`,
  // Signals with a key stay until their run ends; a turn looks only at those that no wait has taken.
  `CREATE INDEX signals_unread ON rhythm.signals (execution_id, bucket, seq) WHERE consumed_at IS NULL`,
  `CREATE UNIQUE INDEX signals_key ON rhythm.signals (execution_id, bucket, dedupe_key) WHERE dedupe_key IS NOT NULL`,
  // What suspended runs wait for: written when a worker lets a run go, deleted when it moves (docs/adr/0014). The time is that of the run,
  // because lists are in its order. The last index has few different keys, which a B-tree stores once each: a count reads 7 bytes per row.
  `CREATE TABLE rhythm.waiting (
    created_at timestamptz NOT NULL,
    turn integer NOT NULL,
    line integer,
    calls integer NOT NULL,
    bucket smallint NOT NULL,
    place smallint NOT NULL,
    first_of_kind boolean NOT NULL,
    execution_id text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    workflow text COLLATE "C" NOT NULL,
    version text COLLATE "C",
    function text COLLATE "C",
    CONSTRAINT waiting_pkey PRIMARY KEY (execution_id, bucket, turn, place)
  )`,
  `CREATE INDEX waiting_names ON rhythm.waiting (kind, name, created_at, execution_id)`,
  `CREATE INDEX waiting_kinds ON rhythm.waiting (kind, created_at, execution_id) WHERE first_of_kind`,
  `CREATE INDEX waiting_places ON rhythm.waiting (workflow, version, kind, name, line, function, first_of_kind, place)`,
  `CREATE TABLE rhythm.claims (
    worker_id text COLLATE "C" NOT NULL,
    claim_id text COLLATE "C" NOT NULL,
    claimed_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    ids text[] COLLATE "C" NOT NULL,
    buckets smallint[] NOT NULL,
    fences bigint[] NOT NULL,
    CONSTRAINT claims_pkey PRIMARY KEY (worker_id, claim_id)
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  `CREATE TABLE rhythm.resume_groups (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    group_no bigint NOT NULL,
    until text NOT NULL,
    remaining integer NOT NULL,
    members int4multirange NOT NULL,
    CONSTRAINT resume_groups_pkey PRIMARY KEY (execution_id, bucket, group_no)
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)`,
  `CREATE TABLE rhythm.workflow_definitions (
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    source text NOT NULL,
    file text,
    allow jsonb NOT NULL,
    allow_seen jsonb NOT NULL,
    isolate boolean NOT NULL,
    activation bigint NOT NULL,
    created_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    CONSTRAINT workflow_definitions_pkey PRIMARY KEY (name, version)
  )`,
  `CREATE TABLE rhythm.workflow_programs (
    name text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    program text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    CONSTRAINT workflow_programs_pkey PRIMARY KEY (name, version, fingerprint)
  )`,
  // lz4 compresses a large snapshot in less than half the time of pglz (docs/adr/0008); a server built without it keeps its default.
  `DO $$ BEGIN
    ALTER TABLE rhythm.executions ALTER COLUMN snapshot SET COMPRESSION lz4;
    ALTER TABLE rhythm.snapshots ALTER COLUMN state SET COMPRESSION lz4;
  EXCEPTION WHEN feature_not_supported THEN NULL;
  END $$`,
  `CREATE TABLE rhythm.worker_heartbeats (
    worker_id text COLLATE "C" NOT NULL,
    host text NOT NULL,
    pid integer NOT NULL,
    queues text[] NOT NULL,
    tasks text[] NOT NULL,
    concurrency integer NOT NULL,
    code_version text NOT NULL,
    started_at timestamptz NOT NULL DEFAULT now(),
    beat_at timestamptz NOT NULL DEFAULT now(),
    beats bigint NOT NULL DEFAULT 0,
    CONSTRAINT worker_heartbeats_pkey PRIMARY KEY (worker_id)
  ) WITH (fillfactor = 50)`,
  `CREATE TABLE rhythm.marked_executions (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    status text NOT NULL,
    marked_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    CONSTRAINT marked_executions_pkey PRIMARY KEY (execution_id, bucket)
  )`,
  `CREATE INDEX marked_executions_status ON rhythm.marked_executions (status, marked_at)`,
  `CREATE TABLE rhythm.history (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    seq bigint NOT NULL,
    at timestamptz NOT NULL DEFAULT rhythm.clock(),
    kind text NOT NULL,
    worker_id text,
    detail jsonb,
    CONSTRAINT history_pkey PRIMARY KEY (execution_id, bucket, seq)
  )`,
  `CREATE TABLE rhythm.completion_tokens (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    fence bigint NOT NULL,
    CONSTRAINT completion_tokens_pkey PRIMARY KEY (execution_id, bucket, hash)
  )`,
  // What is left of a removed run whose id was chosen (by a caller, a key or a schedule): a start of the same id finds it.
  `CREATE TABLE rhythm.tombstones (
    removed_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    bucket smallint NOT NULL,
    id text COLLATE "C" NOT NULL,
    type text NOT NULL,
    target_name text NOT NULL,
    input_hash text COLLATE "C" NOT NULL,
    parent_id text COLLATE "C",
    tags text[],
    CONSTRAINT tombstones_pkey PRIMARY KEY (id, bucket)
  )`,
  `CREATE INDEX tombstones_removed ON rhythm.tombstones (removed_at)`,
  `CREATE INDEX tombstones_parent ON rhythm.tombstones (parent_id) WHERE parent_id IS NOT NULL`,
  // A start that began before a removal committed may insert its row after it, and its statement does not see the tombstone. A
  // volatile function reads with a newer snapshot than the statement that calls it. Under a stricter isolation level there is no newer
  // snapshot; there an insert fails on a row that the snapshot does not show.
  `CREATE FUNCTION rhythm.refuse_removed(ids text[], buckets smallint[]) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
  BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
      INSERT INTO rhythm.tombstones (bucket, id, type, target_name, input_hash)
        SELECT d.bucket, d.id, '', '', '' FROM unnest(ids, buckets) AS d(id, bucket) ON CONFLICT DO NOTHING;
      DELETE FROM rhythm.tombstones t USING unnest(ids, buckets) AS d(id, bucket)
        WHERE t.id = d.id AND t.bucket = d.bucket AND t.target_name = '';
    ELSIF EXISTS (SELECT FROM unnest(ids, buckets) AS d(id, bucket) JOIN rhythm.tombstones t ON t.id = d.id AND t.bucket = d.bucket) THEN
      RAISE EXCEPTION 'An execution of this id was removed while it was started again.' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN true;
  END $$`,
  // States outside the database that no run needs any more, until a worker has removed them from the snapshot store.
  `CREATE TABLE rhythm.discarded_snapshots (
    execution_id text COLLATE "C" NOT NULL,
    bucket smallint NOT NULL,
    ref text NOT NULL,
    retry_at timestamptz NOT NULL DEFAULT rhythm.clock(),
    CONSTRAINT discarded_snapshots_pkey PRIMARY KEY (execution_id, bucket, ref)
  )`,
  `CREATE INDEX discarded_snapshots_retry ON rhythm.discarded_snapshots (retry_at)`,
  // How far each walk of retention has come; a walk without a place has been to the end.
  `CREATE TABLE rhythm.retention_walks (
    name text COLLATE "C" NOT NULL,
    started_at timestamptz NOT NULL,
    place_at timestamptz,
    place_id text COLLATE "C",
    CONSTRAINT retention_walks_pkey PRIMARY KEY (name)
  )`,
  `CREATE TABLE rhythm.schema_info (
    id smallint NOT NULL,
    version integer NOT NULL,
    min_code_version integer NOT NULL,
    CONSTRAINT schema_info_pkey PRIMARY KEY (id)
  )`,
  `INSERT INTO rhythm.schema_info (id, version, min_code_version) VALUES (1, 1, 1)`,
  // The states of suspended runs, for people.
  `CREATE VIEW rhythm.workflow_execution_context AS
    SELECT id AS execution_id, bucket, snapshot::json AS snapshot, snapshot_ref, calls FROM rhythm.executions
    WHERE snapshot IS NOT NULL OR snapshot_ref IS NOT NULL`,
  // One status column for people: an execution that is claimed at its present fence is running, and its worker is the one that claimed
  // it. Steps without rows of their own are in it too: those that have ended, and those in the rows of their runs.
  `CREATE VIEW rhythm.execution_status AS
    SELECT e.id, e.type, e.target_name, e.queue, e.priority,
      CASE WHEN h.worker_id IS NOT NULL AND e.status IN ('pending', 'suspended') THEN 'running' ELSE e.status END AS status,
      coalesce(h.worker_id, e.worker_id) AS worker_id,
      e.parent_id, e.version, e.inputs::jsonb AS inputs, e.output::jsonb AS output, e.error, e.attempts, e.crashes, e.tags, e.note,
      e.created_at, e.started_at, e.finished_at, e.cancelled_at
    FROM rhythm.executions e
    LEFT JOIN (
      SELECT DISTINCT ON (i.id, i.bucket, i.fence) i.id, i.bucket, i.fence, c.worker_id
      FROM rhythm.claims c, unnest(c.ids, c.buckets, c.fences) AS i(id, bucket, fence)
      ORDER BY i.id, i.bucket, i.fence
    ) h ON h.id = e.id AND h.bucket = e.bucket AND h.fence = e.fence
    UNION ALL
    SELECT s.execution_id || ':' || s.call, 'task', s.name, coalesce(s.unusual->>'queue', 'default'), coalesce((s.unusual->>'priority')::smallint, 0::smallint),
      'completed', s.worker_id, s.execution_id, NULL, s.input::jsonb, s.output::jsonb, NULL, 0, 0::smallint, NULL, NULL, s.started_at, s.started_at, s.finished_at, NULL
    FROM rhythm.steps s
    UNION ALL
    SELECT r.id || ':' || (p.step->>0), 'task', p.step->>5, p.step->>6, coalesce((p.step->>8)::smallint, 0::smallint),
      'running', p.step->>4, r.id, NULL, (p.step->>7)::jsonb, NULL, NULL, 0, 0::smallint, NULL, NULL, to_timestamp((p.step->>2)::float8 / 1000),
      to_timestamp((p.step->>2)::float8 / 1000), NULL, NULL
    FROM rhythm.executions r, json_array_elements(r.pending::json) AS p(step) WHERE r.pending IS NOT NULL`,
];

const DOWN = [
  `DROP VIEW rhythm.execution_status, rhythm.workflow_execution_context`,
  `DROP TABLE rhythm.schema_info, rhythm.retention_walks, rhythm.discarded_snapshots, rhythm.tombstones, rhythm.completion_tokens,
    rhythm.history, rhythm.marked_executions, rhythm.worker_heartbeats, rhythm.workflow_programs, rhythm.workflow_definitions,
    rhythm.resume_groups, rhythm.claims, rhythm.waiting, rhythm.signals,
    rhythm.inbox, rhythm.scheduled_queue, rhythm.work_queue, rhythm.snapshots, rhythm.steps, rhythm.executions`,
  `DROP SEQUENCE rhythm.activation_seq, rhythm.event_seq, rhythm.queue_seq`,
  `DROP FUNCTION rhythm.refuse_removed(text[], smallint[])`,
  `DROP FUNCTION rhythm.clock()`,
];
