// Steps beyond those that a run keeps, as a part of a commit: deleted with everything that belongs to them.

import { ENDED } from '../ended.js';
import type { OwnedTable } from '../owned-rows.js';
import { isBelow } from '../relatives.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

// Which of the deleted steps may have rows in a table. The end of a task deletes its schedule, its inbox and its tokens, and the
// end of a workflow its state, so for most steps there is nothing to look for. What has ended waits for nothing.
const MAY_HAVE: Record<Exclude<OwnedTable, 'waiting'>, string> = {
  steps: `type = 'workflow'`,
  snapshots: `type = 'workflow'`,
  inbox: `type = 'workflow' AND status <> 'completed'`,
  signals: `type = 'workflow'`,
  scheduled_queue: `type = 'workflow' AND status <> 'completed'`,
  resume_groups: `type = 'workflow' AND status <> 'completed'`,
  marked_executions: `status <> 'completed'`,
  history: `type = 'workflow' OR attempts > 0 OR status <> 'completed'`,
  completion_tokens: `attempts > 0 OR status <> 'completed'`,
};

/**
 * Deletes old steps. Everything of a step is deleted with it: an endless loop of failing or logging child workflows must not
 * grow. By arrays, not by joins: their plan stays an index scan however large the tables were when it was made.
 */
export function addOldSteps(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const old = each(turns, (turn) => turn.oldSteps);
  if (old.length === 0) return;
  commit.add(
    'old-steps',
    [...owner(commit, old), ['integer', old.map(({ item }) => item)]],
    (unnest) => `stale AS MATERIALIZED (
      SELECT d.id, d.bucket, d.call, d.id || ':' || d.call AS step FROM ${unnest} AS d(n, id, bucket, call) WHERE ${commit.ofWinner}
    ), old_ended_steps AS (
      DELETE FROM rhythm.steps s USING stale d WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.call = d.call
    ), old_executions AS (
      DELETE FROM rhythm.executions e USING stale d
      WHERE e.id = d.step AND e.bucket = d.bucket AND e.status IN ${ENDED} AND e.pending IS NULL
      RETURNING e.id, e.bucket, e.type, e.status, e.attempts
    ), old_executions_below AS (
      DELETE FROM rhythm.executions e USING stale d
      WHERE ${isBelow('e.id', 'd.step')} AND e.bucket = d.bucket AND e.status IN ${ENDED} AND e.pending IS NULL
      RETURNING e.id, e.bucket, e.type, e.status, e.attempts
    ), old AS MATERIALIZED (
      SELECT * FROM old_executions UNION ALL SELECT * FROM old_executions_below
    ), ${(Object.keys(MAY_HAVE) as (keyof typeof MAY_HAVE)[])
      .map(
        (table) =>
          `old_${table} AS (DELETE FROM rhythm.${table} WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE ${MAY_HAVE[table]})))`,
      )
      .join(', ')}`,
  );
}
