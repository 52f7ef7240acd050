// What is started because an execution failed, as a part of the commit of its failure.

import { enqueue } from '../work-queue.js';
import type { CommitBuilder } from './commit-builder.js';
import type { TaskCommit } from './task-commit.js';
import type { TurnCommit } from './turn-commit.js';

// `readable` of json-columns.ts in SQL: characters of an error that PostgreSQL refuses in jsonb become U+FFFD.
const READABLE = (text: string) => `regexp_replace(${text}, '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\ufffd', 'g')`;

/**
 * Starts the handler of each execution that has failed for good and has one (`options.onFailure`), in the same commit and so exactly
 * once for each failure. It belongs to the tree of the execution, without a call that waits for it: it has the bucket of the execution
 * and is removed with it. Its input has no stack: the handler may be a flow, which must not see one of the host. It has no handler itself, so a handler that fails starts nothing.
 */
export function addFailureHandlers(commit: CommitBuilder, fence: number, tasks: readonly TaskCommit[], turns: readonly TurnCommit[]): void {
  const ofTasks = tasks.some(({ status }) => status === 'failed');
  const ofTurns = turns.some(({ status }) => status === 'failed');
  if (!ofTasks && !ofTurns) return;
  const failures = (rows: string) => `SELECT id, bucket, payload FROM ${rows} WHERE status = 'failed'`;
  const sources = [ofTasks ? failures('ended') : '', ofTurns ? failures('turned') : ''].filter(Boolean).join(' UNION ALL ');
  commit.add(
    `failure-handlers-${ofTasks}-${ofTurns}`,
    [],
    (_, first) => `handlers AS (
      INSERT INTO rhythm.executions (fence, id, bucket, parent_id, type, target_name, queue, priority, version, inputs)
      SELECT ${first}, e.id || ':onfail-' || nextval('rhythm.event_seq'), e.bucket, e.id, h.handler->>'type', h.handler->>'name',
        h.handler->>'queue', (h.handler->>'priority')::smallint, h.handler->>'version',
        CASE WHEN e.inputs IS NULL
          THEN json_build_object('id', e.id, 'type', e.type, 'name', e.target_name, 'error', h.error)
          ELSE json_build_object('id', e.id, 'type', e.type, 'name', e.target_name, 'error', h.error, 'input', e.inputs) END
      FROM (${sources}) f JOIN rhythm.executions e ON e.id = f.id AND e.bucket = f.bucket,
        LATERAL (SELECT e.options->'onFailure' AS handler, json_object_agg(p.key, p.value) AS error
          FROM json_each(${READABLE('f.payload')}::json) AS p(key, value) WHERE p.key = ANY('{name,message,code,data,attempts}'::text[])) h
      WHERE e.options ? 'onFailure'
      RETURNING id, bucket, type, queue, priority
    ), handlers_queued AS (
      ${enqueue('handlers', first)}
    )`,
    [['bigint', fence]],
  );
}
