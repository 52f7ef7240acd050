// Queue rows as parts of a statement: how an execution is queued, and how it is woken.

/**
 * Wakes executions: a queue row that means "read your events". `from` is what follows FROM, `e` the prefix of the columns of
 * its executions. Every event of a run comes with a wake in the same transaction; one wake too many is harmless.
 */
export function wake(from: string, e = 'e.'): string {
  return queueRows(from, e, 'NULL');
}

/** Queues executions: a task is to be run if it is still at this fence, a workflow is to read its events. */
export function enqueue(from: string, fence = 'fence'): string {
  return queueRows(from, '', `CASE WHEN type = 'task' THEN ${fence} END`);
}

/** Queue rows with a given fence; NULL is a wake. */
export function queueRows(from: string, e: string, fence: string): string {
  return `INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
    SELECT ${e}queue, -${e}priority, nextval('rhythm.queue_seq'), ${e}bucket, ${e}id, ${fence} FROM ${from}`;
}
