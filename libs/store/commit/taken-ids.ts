// Children whose id the flow chose and that is taken, as a part of a commit: their caller gets an error, or the child it had before.

import { ENDED } from '../ended.js';
import { bucketOf } from '../ids.js';
import { jsonText } from '../json-columns.js';
import type { NewExecution } from '../new-execution.js';
import { wake } from '../work-queue.js';
import type { CommitBuilder } from './commit-builder.js';
import { type Owned, owner } from './turn-items.js';

/**
 * A caller whose child was not started gets its failure in the same commit, or it would wait forever. If an earlier turn of the
 * same run started the child and failed (its call is negative), the turn that is run again adopts it: the child gets the new
 * call, and if it has ended, its outcome is written as an event at once. The update sees the newest row, and so does the end of
 * a child (`addTurns` reads the call from the row), so exactly one of them writes the event.
 */
export function addTakenIds(commit: CommitBuilder, children: readonly Owned<NewExecution>[]): void {
  const called = children.filter(({ item }) => item.parentCall !== undefined);
  if (called.length === 0) return;
  commit.add(
    'taken-ids',
    [
      ...owner(commit, called),
      ['text', called.map(({ item }) => item.id)],
      ['smallint', called.map(({ item }) => bucketOf(item.id))],
      ['text', called.map(({ item }) => item.targetName)],
      ['integer', called.map(({ item }) => item.parentCall as number)],
      ['text', called.map(({ item }) => errorFor(item.id))],
    ],
    (unnest) => `taken_ids AS MATERIALIZED (
      SELECT d.* FROM ${unnest} AS d(n, id, bucket, child, child_bucket, name, call, error)
      WHERE ${commit.ofWinner} AND NOT EXISTS (SELECT 1 FROM started b WHERE b.id = d.child AND b.parent_call = d.call)
    ), adopted AS (
      UPDATE rhythm.executions c SET parent_call = d.call FROM taken_ids d
      WHERE c.id = d.child AND c.bucket = d.child_bucket AND c.parent_id = d.id AND c.parent_call < 0 AND c.target_name = d.name
      RETURNING d.id, d.bucket, d.call, c.status,
        CASE WHEN c.status = 'completed' THEN ${jsonText('output', 'c.')} ELSE c.error::text END AS payload
    ), refused AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT d.id, d.bucket, nextval('rhythm.event_seq'), 'failed', d.call, d.error::json FROM taken_ids d
      WHERE NOT EXISTS (SELECT 1 FROM adopted a WHERE a.id = d.id AND a.call = d.call)
      UNION ALL
      SELECT a.id, a.bucket, nextval('rhythm.event_seq'), CASE WHEN a.status = 'completed' THEN 'completed' ELSE 'failed' END, a.call, a.payload::json
      FROM adopted a WHERE a.status IN ${ENDED}
      RETURNING execution_id, bucket
    ), woken_refused AS (
      ${wake('refused r JOIN rhythm.executions e ON e.id = r.execution_id AND e.bucket = r.bucket')}
    )`,
  );
}

function errorFor(id: string): string {
  return JSON.stringify({
    name: 'WorkflowError',
    code: 'RHYTHM_CONFLICT',
    message: `An execution with the id "${id}" exists already, or existed and was removed. Choose another id for this call.`,
  });
}
