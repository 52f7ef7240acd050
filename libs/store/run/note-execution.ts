// Writes a note on an execution about why it does not move, for people.

import { type Runner, sql } from '../connect/statement.js';

// Never waits for the row: the transaction that holds it may be the reason for the note, and waiting notes would use up the pool.
const NOTE = sql(
  'note_execution',
  `UPDATE rhythm.executions SET note = $4
  WHERE ctid = (SELECT e.ctid FROM rhythm.executions e WHERE e.id = $1 AND e.bucket = $2 AND e.fence = $3 FOR NO KEY UPDATE SKIP LOCKED)`,
);

/** Writes the note of a claimed execution, unless its row is locked; the write that ends its attempt or its turn removes it. */
export async function noteExecution(db: Runner, item: { id: string; bucket: number; fence: number }, note: string): Promise<void> {
  await db.rows(NOTE, [item.id, item.bucket, item.fence, note]);
}
