// Reads what `inspect` shows of a workflow: its stored state, its source, its timers, signals and events.

import { type Runner, sql } from '../connect/statement.js';
import { bucketOf } from '../ids.js';
import type { StoredAllowList } from '../manage/allow-lists.js';

/** The stored state of a workflow run. */
export interface RunState {
  id: string;
  name: string;
  version: string | null;
  /** JSON text of the VM's state; null before the first turn, after the end, or when it is stored outside the row. */
  snapshot: string | null;
  snapshotRef: string | null;
  /** Null when the version is not in the database. */
  source: string | null;
  /** The allow-lists of its version and of the current one; null when there is no such version. */
  allow: StoredAllowList | null;
  currentAllow: StoredAllowList | null;
  file: string | null;
  /** Timers and timeouts to come. */
  timers: { kind: string; call: number; dueAt: string }[];
  /** Signals that no wait has taken. */
  signals: { name: string; sentAt: string }[];
  /** Events that no turn has consumed. */
  events: { kind: string; call: number }[];
}

const STATE = sql(
  'read_run_state',
  `SELECT e.id, e.target_name AS name, e.version, e.snapshot, e.snapshot_ref AS "snapshotRef", d.source, d.file, d.allow,
    (SELECT n.allow FROM rhythm.workflow_definitions n WHERE n.name = e.target_name AND e.type = 'workflow' ORDER BY n.activation DESC LIMIT 1) AS "currentAllow",
    (SELECT coalesce(json_agg(json_build_object('kind', s.kind, 'call', s.call, 'dueAt', s.due_at) ORDER BY s.due_at), '[]')
      FROM rhythm.scheduled_queue s WHERE s.execution_id = e.id AND s.bucket = e.bucket) AS timers,
    (SELECT coalesce(json_agg(json_build_object('name', s.name, 'sentAt', s.created_at) ORDER BY s.seq), '[]')
      FROM rhythm.signals s WHERE s.execution_id = e.id AND s.bucket = e.bucket AND s.consumed_at IS NULL) AS signals,
    (SELECT coalesce(json_agg(json_build_object('kind', i.kind, 'call', i.call) ORDER BY i.seq), '[]')
      FROM rhythm.inbox i WHERE i.execution_id = e.id AND i.bucket = e.bucket) AS events
  FROM rhythm.executions e
  LEFT JOIN rhythm.workflow_definitions d ON d.name = e.target_name AND d.version = e.version
  WHERE e.id = $1 AND e.bucket = $2`,
);

/** The stored state of a run, or undefined when there is no such execution. */
export async function readRunState(db: Runner, id: string): Promise<RunState | undefined> {
  return (await db.rows<RunState>(STATE, [id, bucketOf(id)]))[0];
}
