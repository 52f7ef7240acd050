// Fills the tables with many rows of every kind, in bulk, for specs and benchmarks of large tables.

import { bucketOf, type Runner, sql } from '../../libs/store/index.js';

/** The name of the rare workflow, and the rare tag. */
export const RARE = 'rare';

/** The id of an execution of `fillTables` by its number. */
export const idOf = (g: number) => `x${String(g).padStart(9, '0')}`;

/** Numbers of two hundred tasks that have completed. */
export const ENDED = Array.from({ length: 200 }, (_, n) => 1_002 + n * 10);
const FOUND_BY_ID = [10, 11, 20, ...ENDED];

/**
 * `n` executions: nine tenths are tasks that completed, one tenth workflows that are suspended, each with a timer in the future. One
 * workflow and one tag are rare, and are among the oldest. A twentieth waits in the queue, a twentieth is delayed, and there are `n` steps.
 * A hundredth failed.
 */
export async function fillTables(db: Runner, n: number): Promise<void> {
  const run = (text: string) => db.rows(sql('fill', text));
  const id = (g: string) => `'x' || lpad(${g}::text, 9, '0')`;
  const bucket = (g: string) => `(${g} % 4096)::smallint`;
  await run(`INSERT INTO rhythm.executions (created_at, id, bucket, type, target_name, queue, version, status, fence, inputs, tags, started_at, finished_at, snapshot)
    SELECT now() - (${n} - g) * interval '1 second' - interval '1 day', ${id('g')}, ${bucket('g')},
      CASE WHEN g % 10 = 0 THEN 'workflow' ELSE 'task' END, CASE WHEN g = 10 THEN '${RARE}' WHEN g % 10 = 0 THEN 'order' ELSE 'mail' END, 'default',
      CASE WHEN g % 10 = 0 THEN 'v' || g % 3 END, CASE WHEN g % 10 = 0 THEN 'suspended' WHEN g % 100 = 1 THEN 'failed' ELSE 'completed' END, g,
      '{"orderId":7}', CASE WHEN g IN (10, 20, 30) THEN '{${RARE}}'::text[] WHEN g % 4 = 0 THEN '{common}'::text[] END, now(),
      CASE WHEN g % 10 > 0 THEN now() - interval '1 day' END, CASE WHEN g % 10 = 0 THEN '{"fibers":[]}' END
    FROM generate_series(1, ${n}) g`);
  await run(
    `INSERT INTO rhythm.marked_executions (execution_id, bucket, status) SELECT ${id('g')}, ${bucket('g')}, 'failed' FROM generate_series(1, ${n}, 100) g`,
  );
  await run(`INSERT INTO rhythm.steps (execution_id, bucket, call, started_turn, consumed_turn, name, worker_id, input, output, started_at, finished_at)
    SELECT ${id('g')}, ${bucket('g')}, c, c, c + 1, 'step', 'w', '1', '2', now(), now() FROM generate_series(10, ${n}, 10) g, generate_series(1, 10) c`);
  await run(`INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
    SELECT ${id('g')}, ${bucket('g')}, 'timer', 1, now() + interval '1 day' + g * interval '1 second' FROM generate_series(10, ${n}, 10) g`);
  const waiting = (
    kind: string,
    first: number,
    created: string,
  ) => `INSERT INTO rhythm.executions (created_at, id, bucket, type, target_name, queue, status, fence)
    SELECT ${created}, '${kind}' || lpad(g::text, 9, '0'), ${bucket('g')}, 'task', 'mail', '${kind}', 'pending', g FROM generate_series(${first}, ${n}, 20) g`;
  await run(waiting('queued', 1, `now() - interval '2 days' - g * interval '1 millisecond'`));
  await run(`INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
    SELECT 'queued', 0, g, ${bucket('g')}, 'queued' || lpad(g::text, 9, '0'), g FROM generate_series(1, ${n}, 20) g`);
  await run(waiting('delayed', 1, `now() - interval '2 days' - g * interval '1 millisecond'`));
  await run(`INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at, fence)
    SELECT 'delayed' || lpad(g::text, 9, '0'), ${bucket('g')}, 'run', 0, now() + interval '1 day' + g * interval '1 second', g FROM generate_series(1, ${n}, 20) g`);
  // In bulk the buckets are any; these are looked up by their ids, and have those of their ids.
  const ids = FOUND_BY_ID.map(idOf);
  for (const [table, column] of [
    ['executions', 'id'],
    ['steps', 'execution_id'],
    ['scheduled_queue', 'execution_id'],
    ['marked_executions', 'execution_id'],
  ])
    await db.rows(
      sql(
        'fill',
        `UPDATE rhythm.${table} t SET bucket = d.bucket FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket) WHERE t.${column} = d.id`,
      ),
      [ids, ids.map(bucketOf)],
    );
  for (const table of ['executions', 'marked_executions', 'steps', 'scheduled_queue', 'work_queue'])
    await run(`VACUUM (ANALYZE) rhythm.${table}`);
}

/** Adds `n` rows that are due now: timers of runs that have ended, which a move deletes, or time limits. */
export async function addDue(db: Runner, kind: 'timer' | 'deadline', n: number): Promise<void> {
  await db.rows(
    sql(
      'fill',
      `INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
      SELECT 'x' || lpad(g::text, 9, '0'), (g % 4096)::smallint, '${kind}', 9, now() - interval '1 hour' + g * interval '1 millisecond' FROM generate_series(10, ${n} * 10, 10) g`,
    ),
  );
}
