// Executions as rows of one shape, wherever they are stored: in `executions`, in `steps` when they ended in place, or in the row of
// their run while they run in place.

import { NO_FENCE } from '../fence.js';
import { stepField } from '../pending-steps.js';

/** The columns of such a row, in the order in which every source has them. */
export const COLUMNS = `created_at, bucket, priority, parent_call, id, type, target_name, queue, parent_id, version, inputs, inputs_verbatim, options, tags,
  started_at, cancelled_at, attempts, crashes, status, worker_id, finished_at, progress, note, fence, output, output_verbatim, error`;
const OF_E = COLUMNS.replace(/\b\w+\b/g, 'e.$&');

/** Executions that have rows of their own. `from` is what follows FROM, with `executions e`. */
export function ownRows(from: string): string {
  return `SELECT ${OF_E} FROM ${from}`;
}

/** Steps that ended in place. `from` is what follows FROM, with `steps s`. */
export function endedStepRows(from: string): string {
  return `SELECT s.started_at, s.bucket, coalesce((s.unusual->>'priority')::smallint, 0::smallint), s.call, s.execution_id || ':' || s.call, 'task', s.name,
    coalesce(s.unusual->>'queue', 'default'), s.execution_id, NULL, s.input::json, NULL::json, s.unusual->'options', NULL::text[],
    s.started_at, NULL::timestamptz, 0, 0::smallint, 'completed', s.worker_id, s.finished_at, NULL::jsonb, NULL, ${NO_FENCE}::bigint, s.output::json, NULL::json, NULL::jsonb FROM ${from}`;
}

/** Steps that run in place. `from` is what follows FROM, with their run as `executions r` and nothing else. `where` may use `p.step`. */
export function pendingStepRows(from: string, where = 'true'): string {
  const field = (name: Parameters<typeof stepField>[1]) => `(${stepField('p.step', name)})`;
  const startedAt = `to_timestamp(${field('startedAt')}::float8 / 1000)`;
  return `SELECT ${startedAt}, r.bucket, coalesce(${field('priority')}::smallint, 0::smallint), ${field('call')}::integer, r.id || ':' || ${field('call')}, 'task', ${field('name')},
    ${field('queue')}, r.id, NULL, ${field('input')}::json, NULL::json, ${field('options')}::jsonb, NULL::text[],
    ${startedAt}, NULL::timestamptz, 0, 0::smallint, 'running', ${field('worker')}, NULL::timestamptz, NULL::jsonb, NULL, ${NO_FENCE}::bigint, NULL::json, NULL::json, NULL::jsonb
    FROM ${from} CROSS JOIN LATERAL json_array_elements(r.pending::json) AS p(step) WHERE ${where}`;
}

/** All of them, with the names of their columns. */
export function rowsNamed(name: string, ...sources: readonly string[]): string {
  return `(${sources.join(' UNION ALL ')}) AS ${name}(${COLUMNS})`;
}

/** The runs that have steps in place: the claims by which they would be recovered name them. */
export const RUNS_WITH_STEPS = `(SELECT DISTINCT i.id, i.bucket FROM rhythm.claims c, unnest(c.ids, c.buckets, c.fences) AS i(id, bucket, fence) WHERE i.fence = ${NO_FENCE}) i
  JOIN rhythm.executions r ON r.id = i.id AND r.bucket = i.bucket`;

/** The executions of ids, as `e`: the parameters `$1`, `$2` and two more are those of `idColumns`. */
export function rowsOfIds(runs: string, calls: string): string {
  const steps = `unnest($2::smallint[], ${runs}::text[], ${calls}::integer[]) AS d(bucket, run, call)`;
  return rowsNamed(
    'e',
    ownRows('unnest($1::text[], $2::smallint[]) AS d(id, bucket) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket'),
    endedStepRows(`${steps} JOIN rhythm.steps s ON s.execution_id = d.run AND s.bucket = d.bucket AND s.call = d.call`),
    pendingStepRows(
      `${steps} JOIN rhythm.executions r ON r.id = d.run AND r.bucket = d.bucket`,
      `(${stepField('p.step', 'call')})::integer = d.call`,
    ),
  );
}

/** The executions of the ids in the first four parameters, as `e`. */
export const ROWS_OF_IDS = rowsOfIds('$3', '$4');
