// Finds executions that ended long ago, for retention: counted once, then read in order of age.

import { exactText } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import type { EndedStatus } from '../ended.js';

/** What retention may remove. */
export interface EndedFilter {
  endedBefore: Date;
  statuses: readonly EndedStatus[];
}

/** The last execution of a page: pass it in to read the next page. */
export interface EndedPlace {
  createdAt: string;
  id: string;
}

// Steps are removed with the run that called them. Each batch starts after the last one instead of reading the oldest again and
// again: trees that must stay because something in them has not ended would otherwise fill every batch and end it early.
// The limit is a time that the caller chose: retention counts in real time.
const MATCH = `e.created_at < $1 AND e.finished_at < $1 AND e.parent_call IS NULL AND e.status = ANY($2)`;

const COUNT_ENDED = sql('count_ended', `SELECT count(*)::integer AS n FROM rhythm.executions e WHERE ${MATCH}`);

const FIND_ENDED = sql(
  'find_ended',
  `SELECT e.id, ${exactText('e.created_at')} AS "createdAt" FROM rhythm.executions e
  WHERE ${MATCH} AND (e.created_at, e.id) > ($3::timestamptz, $4) ORDER BY e.created_at, e.id LIMIT $5`,
);

/** How many executions match, their steps not counted. */
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
