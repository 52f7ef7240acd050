// Loads what a turn starts from: the state of the run and every event it has not consumed.

import { CLOCK, millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { jsonText } from '../json-columns.js';

/** The stored state of a run. */
export interface LoadedRun {
  id: string;
  /** Null before the first turn and when the state lives outside the row. */
  snapshot: string | null;
  snapshotRef: string | null;
  /** The highest durable call ever numbered. */
  calls: number;
  /** How many turns it has taken. */
  turns: number;
  /** The steps that workers run without rows of their own, as JSON text. */
  pending: string | null;
  /** JSON text of the inputs, only when there is no snapshot. */
  input: string | null;
  /** The members that the resume groups had left, or null without groups: if a commit finds fewer, a child has ended meanwhile. */
  remaining: number | null;
  /** It was started for a later time that has not come: whatever woke it, it must not run yet. */
  early: boolean;
  /** Its state is large, and is loaded when it is its turn (`large`): many of them do not fit into one reply. */
  isLarge: boolean;
}

/** A stored event, in the one order of the run. */
export interface StoredEvent {
  executionId: string;
  seq: number;
  kind: 'completed' | 'failed' | 'timer' | 'timeout' | 'cancel' | 'cancel-step' | 'signal';
  call: number;
  /** Of a signal. */
  name: string | null;
  /** When a signal was sent, in milliseconds. */
  sentAt?: number | null;
  payload: string | null;
}

// Up to 200 runs are loaded by one statement: 13 MB at most, where their states could be a gigabyte. The length of a stored text is known
// without reading it.
const LARGE_BYTES = 65_536;
const isLarge = `(octet_length(e.snapshot) > ${LARGE_BYTES} OR (e.snapshot IS NULL AND pg_column_size(e.inputs) > ${LARGE_BYTES}))`;

const contexts = (name: string, large: string) =>
  sql(
    name,
    `SELECT e.id, CASE WHEN ${large} THEN NULL ELSE e.snapshot END AS snapshot, ${large} IS TRUE AS "isLarge", e.snapshot_ref AS "snapshotRef", coalesce(e.calls, 0) AS calls, coalesce(e.turns, 0) AS turns, e.pending,
    CASE WHEN e.snapshot IS NULL AND e.snapshot_ref IS NULL AND (${large}) IS NOT TRUE THEN ${jsonText('inputs')} END AS input,
    (SELECT sum(g.remaining)::integer FROM rhythm.resume_groups g WHERE g.execution_id = e.id AND g.bucket = e.bucket) AS remaining,
    (e.status = 'pending' AND e.options ?| '{delayMs,runAt}'::text[] AND EXISTS (SELECT 1 FROM rhythm.scheduled_queue s
      WHERE s.execution_id = e.id AND s.bucket = e.bucket AND s.kind = 'run' AND s.call = 0 AND s.due_at > ${CLOCK})) IS TRUE AS early
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
  JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket`,
  );
const CONTEXTS = contexts('load_contexts', isLarge);
const LARGE_CONTEXTS = contexts('load_large_contexts', 'false');

const EVENTS = sql(
  'load_events',
  `SELECT i.execution_id AS "executionId", i.seq, i.kind, i.call, NULL AS name, NULL::float8 AS "sentAt", i.payload::text AS payload
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.inbox i ON i.execution_id = d.id AND i.bucket = d.bucket
  UNION ALL
  SELECT s.execution_id, s.seq, 'signal', 0, s.name, ${millis('s.created_at')}, s.payload::text
  FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.signals s ON s.execution_id = d.id AND s.bucket = d.bucket
  WHERE s.consumed_at IS NULL`,
);

/**
 * Loads runs and their events in one round trip (two statements, pipelined: the state first, so that the events are never
 * older than it). Runs whose VM is in memory are named only in `eventsOf`.
 */
export async function loadRuns(
  db: Runner,
  contextsOf: readonly { id: string; bucket: number }[],
  eventsOf: readonly { id: string; bucket: number }[],
  { large = false }: { large?: boolean } = {},
): Promise<{ runs: LoadedRun[]; events: Map<string, StoredEvent[]> }> {
  const [runs, rows] = await Promise.all([
    contextsOf.length > 0
      ? db.rows<LoadedRun>(large ? LARGE_CONTEXTS : CONTEXTS, [contextsOf.map((run) => run.id), contextsOf.map((run) => run.bucket)])
      : [],
    db.rows<StoredEvent>(EVENTS, [eventsOf.map((run) => run.id), eventsOf.map((run) => run.bucket)]),
  ]);
  const events = new Map<string, StoredEvent[]>();
  for (const row of rows.sort((a, b) => a.seq - b.seq)) {
    const known = events.get(row.executionId);
    if (known) known.push(row);
    else events.set(row.executionId, [row]);
  }
  return { runs, events };
}
