// A task's own heartbeat: its progress, and its crash count back to zero.

import { type Runner, sql } from '../connect/statement.js';

const PROGRESS = sql(
  'task_progress',
  `UPDATE rhythm.executions SET crashes = 0, progress = CASE WHEN $5 THEN $4::jsonb ELSE progress END
  WHERE id = $1 AND bucket = $2 AND fence = $3 RETURNING id`,
);

/** Stores progress (JSON text) if one is given. Returns false when the claim was lost. The fence stays, because the claim goes on. */
export async function reportProgress(db: Runner, item: { id: string; bucket: number; fence: number }, progress?: string): Promise<boolean> {
  return (await db.rows(PROGRESS, [item.id, item.bucket, item.fence, progress ?? null, progress !== undefined])).length > 0;
}
