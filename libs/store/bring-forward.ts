// Makes what was put off due at once.

import type { PutOff } from './give-back.js';
import { type Runner, sql } from './statement.js';

// Only the row that was written when it was put off: its fence tells a task's from the wait before a later attempt.
const BRING_FORWARD = sql(
  'bring_forward',
  `UPDATE rhythm.scheduled_queue s SET due_at = now() WHERE s.execution_id = $1 AND s.bucket = $2 AND s.kind = 'run' AND s.call = 0
    AND s.fence IS NOT DISTINCT FROM $3::bigint AND s.due_at > now() RETURNING s.execution_id`,
);

/** Returns false when it is due already, or was taken since. */
export async function bringForward(db: Runner, { id, bucket, fence }: PutOff): Promise<boolean> {
  return (await db.rows(BRING_FORWARD, [id, bucket, fence])).length > 0;
}
