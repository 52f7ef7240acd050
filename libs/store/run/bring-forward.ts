// Makes what was put off due at once.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import type { PutOff } from './give-back.js';

// Only the row that was written when it was put off: the fence distinguishes it from the delay before a later attempt.
const BRING_FORWARD = sql(
  'bring_forward',
  `UPDATE rhythm.scheduled_queue s SET due_at = ${CLOCK} WHERE s.execution_id = $1 AND s.bucket = $2 AND s.kind = 'run' AND s.call = 0
    AND s.fence IS NOT DISTINCT FROM $3::bigint AND s.due_at > ${CLOCK} RETURNING s.execution_id`,
);

/** Returns false when it was due already, or has been moved since. */
export async function bringForward(db: Runner, { id, bucket, fence }: PutOff): Promise<boolean> {
  return (await db.rows(BRING_FORWARD, [id, bucket, fence])).length > 0;
}
