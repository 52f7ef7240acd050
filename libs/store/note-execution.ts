// Notes on an execution why it does not move, for people who look at it.

import { type Runner, sql } from './statement.js';

const NOTE = sql('note_execution', `UPDATE rhythm.executions SET note = $4 WHERE id = $1 AND bucket = $2 AND fence = $3`);

/** Writes the note of a claimed execution; the write that ends its attempt or its turn takes it away. */
export async function noteExecution(db: Runner, item: { id: string; bucket: number; fence: number }, note: string): Promise<void> {
  await db.rows(NOTE, [item.id, item.bucket, item.fence, note]);
}
