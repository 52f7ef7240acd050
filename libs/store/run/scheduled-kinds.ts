// The kinds of rows in the scheduled queue, as conditions on `scheduled_queue s`: each is that of a partial index, in the same words.

/** Executions that are to be queued: delayed starts and retries. */
export const IS_RUN = `s.kind = 'run'`;

/** Events of runs that are to be woken. */
export const IS_TIMER = `s.kind = ANY('{timer,timeout,wake}'::text[])`;

/** Time limits of whole executions. */
export const IS_LIMIT = `s.kind = ANY('{deadline,start,grace}'::text[])`;
