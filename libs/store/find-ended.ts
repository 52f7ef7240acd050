// Finds what ended long ago, for retention: counted once, then walked in order of age.

import { type Runner, sql } from './statement.js';

/** What retention may take. */
export interface EndedFilter {
  endedBefore: Date;
  statuses: readonly ('completed' | 'failed' | 'cancelled')[];
}

/** Where a walk stands: hand it in to go on behind it. */
export interface EndedPlace {
  createdAt: string;
  id: string;
}

// Steps go with the run that called them. The walk remembers its place instead of asking for the oldest again and again:
// trees that must stay because something in them lives would otherwise fill every batch and end it early.
const MATCH = `e.created_at < $1 AND e.finished_at < $1 AND e.parent_call IS NULL AND e.status = ANY($2)`;

const COUNT_ENDED = sql('count_ended', `SELECT count(*)::integer AS n FROM rhythm.executions e WHERE ${MATCH}`);

const FIND_ENDED = sql(
  'find_ended',
  `SELECT e.id, to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ') AS "createdAt" FROM rhythm.executions e
  WHERE ${MATCH} AND (e.created_at, e.id) > ($3::timestamptz, $4) ORDER BY e.created_at, e.id LIMIT $5`,
);

/** How many executions retention would look at, their steps not counted. */
export async function countEnded(db: Runner, { endedBefore, statuses }: EndedFilter): Promise<number> {
  return (await db.rows<{ n: number }>(COUNT_ENDED, [endedBefore, statuses]))[0]!.n;
}

/** The next batch of them, oldest first. */
export async function findEnded(
  db: Runner,
  { endedBefore, statuses }: EndedFilter,
  limit: number,
  after?: EndedPlace,
): Promise<EndedPlace[]> {
  return db.rows(FIND_ENDED, [endedBefore, statuses, after?.createdAt ?? '-infinity', after?.id ?? '', limit]);
}
