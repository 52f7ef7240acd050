// Walks the small tables of events, signals and tokens for rows that nothing will read, because their execution has ended or is gone.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ENDED, ENDED_FOR_GOOD } from '../ended.js';
import { lockRetention, moveWalk, walkPlace } from './retention.js';

/** The tables, each with a walk of its own. */
export const LEFTOVER_TABLES = ['inbox', 'signals', 'completion_tokens'] as const;
export type LeftoverTable = (typeof LEFTOVER_TABLES)[number];

const execution = (condition: string) =>
  `EXISTS (SELECT FROM rhythm.executions e WHERE e.id = t.execution_id AND e.bucket = t.bucket AND ${condition})`;

// A worker may die between the claim of a wake and the removal of the late events that the wake led to. A signal may come before its
// run, so it is kept as long as an id is remembered; if that is for ever ($3 is NULL), so is the signal.
const LEFT: Record<LeftoverTable, string> = {
  inbox: `NOT ${execution(`e.status NOT IN ${ENDED_FOR_GOOD} AND NOT (e.type = 'task' AND e.status = 'failed')`)}`,
  signals: `(${execution(`(e.status IN ${ENDED_FOR_GOOD} OR e.type = 'task')`)} OR
    (t.created_at < ${CLOCK} - $3::float8 * interval '1 millisecond' AND NOT ${execution('true')}))`,
  completion_tokens: `NOT ${execution(`e.status NOT IN ${ENDED}`)}`,
};

const statement = (table: LeftoverTable) =>
  sql(
    `leftover_${table}`,
    `WITH page AS MATERIALIZED (
    SELECT t.execution_id, t.bucket FROM rhythm.${table} t WHERE t.execution_id > $1 ORDER BY t.execution_id LIMIT $2
  ), left_over AS (
    DELETE FROM rhythm.${table} WHERE ctid = ANY(ARRAY(
      SELECT t.ctid FROM (SELECT DISTINCT execution_id, bucket FROM page) p
      JOIN rhythm.${table} t ON t.execution_id = p.execution_id AND t.bucket = p.bucket
      WHERE ${LEFT[table]} LIMIT $2 FOR UPDATE OF t SKIP LOCKED)) RETURNING 1
  )
  SELECT (SELECT count(*)::integer FROM page) AS looked, (SELECT max(execution_id) FROM page) AS last, (SELECT count(*)::integer FROM left_over) AS removed`,
  );
const STATEMENTS = Object.fromEntries(LEFTOVER_TABLES.map((table) => [table, statement(table)])) as Record<
  LeftoverTable,
  ReturnType<typeof statement>
>;

/** What a step did. */
export interface LeftoverStep {
  /** The walk has come to its end, or none is due. */
  isOver: boolean;
  removed: number;
}

/** One step of the walk over a table, in a transaction of the caller's. */
export async function removeLeftovers(
  tx: Runner,
  table: LeftoverTable,
  keysMs: number | null,
  { look, walkEveryMs }: { look: number; walkEveryMs: number },
): Promise<LeftoverStep> {
  const place = (await lockRetention(tx)) ? await walkPlace(tx, table, walkEveryMs) : undefined;
  if (!place) return { isOver: true, removed: 0 };
  const [{ looked, last, removed }] = await tx.rows<{ looked: number; last: string | null; removed: number }>(STATEMENTS[table], [
    place.id,
    look,
    ...(table === 'signals' ? [keysMs] : []),
  ]);
  // As many as were looked at were removed: there may be more of the same executions.
  const isOver = looked < look;
  const next = removed === look ? place.id : (last ?? '');
  await moveWalk(tx, table, isOver ? undefined : { at: '-infinity', id: next });
  return { isOver, removed };
}
