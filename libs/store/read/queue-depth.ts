// How much waits in a queue, counted up to a limit.

import { type Runner, sql } from '../connect/statement.js';

// A range of the primary key, of which at most so many entries are read: it costs no more when the queue is longer.
const DEPTH = sql('queue_depth', 'SELECT count(*)::integer AS depth FROM (SELECT FROM rhythm.work_queue WHERE queue = $1 LIMIT $2) q');

/** The number of rows that wait in a queue, or `limit` if there are more. */
export async function readQueueDepth(db: Runner, queue: string, limit: number): Promise<number> {
  return (await db.rows<{ depth: number }>(DEPTH, [queue, limit]))[0].depth;
}
