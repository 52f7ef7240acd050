// Reads what happened to a run: its steps and every note in its history, in order of time.

import { type Runner, sql } from '../connect/statement.js';
import { idColumns } from '../ids.js';
import { isBelow, isChildWithOwnId } from '../relatives.js';
import { endedStepRows, ownRows, pendingStepRows, ROWS_OF_IDS, rowsNamed } from './execution-rows.js';

/** One thing that happened. */
export interface HistoryEntry {
  at: Date;
  /** `created`, `started`, `completed`, `failed`, `cancelled` of the run; `log`, `attempt-failed`, `recovered`, `signal-taken`, `timer-fired`, … as noted; `step-…` the same of a child. */
  kind: string;
  /** Null where it is no longer known: only the last worker of a run is stored. */
  workerId: string | null;
  /** The child, for steps. */
  executionId: string;
  /** The target of the run or step. */
  name: string;
  detail: unknown;
}

// `worker_id` is the last worker, which started the run only if no other can have worked on it.
const FIRST_WORKER = `CASE WHEN type = 'task' AND attempts <= 1 THEN worker_id END`;

// Many things happen in one commit, which has one time: then the order is that of a life (`place`), of the calls of a run (a longer
// id is a higher number), and of what was written first.
const HISTORY = sql(
  'read_history',
  `WITH me AS (SELECT * FROM ${ROWS_OF_IDS}),
  steps AS (SELECT * FROM ${rowsNamed(
    'e',
    ownRows(
      `rhythm.executions e WHERE e.bucket = ($2::smallint[])[1] AND ${isBelow('e.id', '($1::text[])[1]')} AND e.parent_id = ($1::text[])[1]`,
    ),
    ownRows(`rhythm.executions e WHERE ${isChildWithOwnId('e.', '($1::text[])[1]')}`),
    endedStepRows('rhythm.steps s WHERE s.execution_id = ($1::text[])[1] AND s.bucket = ($2::smallint[])[1]'),
    pendingStepRows('rhythm.executions r', 'r.id = ($1::text[])[1] AND r.bucket = ($2::smallint[])[1]'),
  )}),
  entries AS (
    SELECT created_at AS at, 0 AS place, 'created' AS kind, NULL AS worker_id, id, target_name, NULL::jsonb AS detail, 0::bigint AS seq FROM me
    UNION ALL SELECT started_at, 1, 'started', ${FIRST_WORKER}, id, target_name, NULL, 0 FROM me WHERE started_at IS NOT NULL
    UNION ALL SELECT finished_at, 9, status, worker_id, id, target_name, error, 0 FROM me WHERE finished_at IS NOT NULL
    UNION ALL SELECT created_at, 2, 'step-created', NULL, id, target_name, NULL, 0 FROM steps
    UNION ALL SELECT started_at, 3, 'step-started', ${FIRST_WORKER}, id, target_name, NULL, 0 FROM steps WHERE started_at IS NOT NULL
    UNION ALL SELECT finished_at, 4, 'step-' || status, worker_id, id, target_name, error, 0 FROM steps WHERE finished_at IS NOT NULL
    UNION ALL SELECT h.at, 5, h.kind, h.worker_id, h.execution_id, m.target_name, h.detail, h.seq FROM rhythm.history h, me m WHERE h.execution_id = m.id AND h.bucket = m.bucket
    UNION ALL SELECT h.at, 5, 'step-' || h.kind, h.worker_id, s.id, s.target_name, h.detail, h.seq FROM steps s JOIN rhythm.history h ON h.execution_id = s.id AND h.bucket = s.bucket
    WHERE h.kind IN ('failed', 'retried', 'attempt-failed', 'paused', 'resumed', 'recovered')
    UNION ALL SELECT s.created_at, 5, 'signal-sent', NULL, m.id, m.target_name, jsonb_build_object('signal', s.name), s.seq FROM rhythm.signals s, me m
    WHERE s.execution_id = m.id AND s.bucket = m.bucket AND s.consumed_at IS NULL
  )
  SELECT at, kind, worker_id AS "workerId", id AS "executionId", target_name AS name, detail FROM entries ORDER BY at DESC, place DESC, length(id) DESC, id DESC, seq DESC LIMIT $5`,
);

/** The last things that happened to a run, oldest first. */
export async function readHistory(db: Runner, id: string, limit = 1_000): Promise<HistoryEntry[]> {
  return (await db.rows<HistoryEntry>(HISTORY, [...idColumns([id]), limit])).reverse();
}
