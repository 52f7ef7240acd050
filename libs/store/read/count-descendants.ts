// Counts the executions of a tree that have not ended, as far as a limit.

import { type Runner, sql } from '../connect/statement.js';
import { LIVE } from '../ended.js';
import { bucketOf } from '../ids.js';
import { isBelow } from '../relatives.js';

// All of a tree is one range of the key. Those that have ended are passed, but no more of them than a few times the limit: a tree of so
// many rows is too large as well.
const MOST_ENDED = 4;
const COUNT = sql(
  'count_descendants',
  `SELECT count(*) FILTER (WHERE t.status IN ${LIVE})::integer AS living, count(*)::integer AS seen
  FROM (SELECT e.status FROM rhythm.executions e WHERE e.bucket = $2 AND ${isBelow('e.id', '$1::text')} ORDER BY e.id LIMIT $3) t`,
);

/** How many executions below a root have not ended; at least `limit` if there are more rows than can be looked at. */
export async function countDescendants(db: Runner, root: string, limit: number): Promise<number> {
  const most = limit * (1 + MOST_ENDED);
  const [{ living, seen }] = await db.rows<{ living: number; seen: number }>(COUNT, [root, bucketOf(root), most]);
  return seen === most ? Math.max(living, limit) : living;
}
