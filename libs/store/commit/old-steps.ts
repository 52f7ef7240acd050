// Steps beyond those that a run keeps, as a part of a commit: deleted with everything that belongs to them.

import { ENDED } from '../ended.js';
import { OWNED_TABLES, type OwnedTable } from '../owned-rows.js';
import { isBelow } from '../relatives.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';
import { each, owner } from './turn-items.js';

// Which of the deleted steps may have rows in a table. The end of a task deletes its schedule, its inbox and its tokens, and the
// end of a workflow its state, so for most steps there is nothing to look for.
const MAY_HAVE: Record<OwnedTable, string> = {
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
    [...owner(commit, old), ['text', old.map(({ item }) => item)]],
    (unnest) => `stale AS MATERIALIZED (
      SELECT d.step, d.bucket FROM ${unnest} AS d(n, id, bucket, step) WHERE ${commit.ofWinner}
    ), old_steps AS (
      DELETE FROM rhythm.executions e USING stale d
      WHERE e.id = d.step AND e.bucket = d.bucket AND e.status IN ${ENDED}
      RETURNING e.id, e.bucket, e.type, e.status, e.attempts
    ), old_steps_of_children AS (
      DELETE FROM rhythm.executions e USING stale d
      WHERE ${isBelow('e.id', 'd.step')} AND e.bucket = d.bucket AND e.status IN ${ENDED}
      RETURNING e.id, e.bucket, e.type, e.status, e.attempts
    ), old AS MATERIALIZED (
      SELECT * FROM old_steps UNION ALL SELECT * FROM old_steps_of_children
    ), ${OWNED_TABLES.map(
      (table) =>
        `old_${table} AS (DELETE FROM rhythm.${table} WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE ${MAY_HAVE[table]})))`,
    ).join(', ')}`,
  );
}
