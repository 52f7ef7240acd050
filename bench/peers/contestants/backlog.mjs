// A backlog in our own tables, written with SQL: rows that are in the tables during a drain, or work that appears all at once.

import pg from 'pg';

const ID = `'0192' || substr(md5($1 || clock_timestamp() || n::text), 1, 28) || n`;

/** Tasks that are queued or claimed, without the queues that no worker serves. */
export const UNFINISHED = `SELECT ((SELECT count(*) FROM rhythm.work_queue WHERE queue = 'default') + (SELECT count(*) FROM rhythm.claims))::integer AS n`;

/** Of these runs, those that have not ended. */
export const UNFINISHED_RUNS = `SELECT d.id FROM unnest($1::text[]) WITH ORDINALITY AS d(id, n) JOIN rhythm.executions e ON e.id = d.id
  WHERE e.finished_at IS NULL ORDER BY d.n`;
export const LOOKED_UP = 128;

/** Inserts finished tasks, or pending ones in a queue that no worker serves. */
export async function prefill(url, status, count, payload) {
  const client = await connect(url);
  if (status === 'finished') {
    await client.query(
      `INSERT INTO rhythm.executions (created_at, id, bucket, type, target_name, queue, status, inputs, output, fence, worker_id, started_at, finished_at)
      SELECT clock_timestamp(), ${ID}, n % 64, 'task', 'noop', 'default', 'completed', $3, '{"ok":true}', 1, 'before', now(), now() FROM generate_series(1, $2::int) n`,
      [status, count, payload],
    );
  } else await insertPending(client, 'unserved', count, payload);
  await client.query('VACUUM ANALYZE rhythm.executions');
  await client.query('VACUUM ANALYZE rhythm.work_queue');
  await client.end();
}

/** Inserts work in an open transaction; the function that it returns commits it. */
export async function hold(url, count, payload) {
  const client = await connect(url);
  await client.query('BEGIN');
  await insertPending(client, 'default', count, payload);
  return async () => {
    await client.query('COMMIT');
    // As a start does, so that idle workers claim at once.
    await client.query(`SELECT pg_notify('rhythm_hints_rhythm', 'work:default'), pg_notify('raw_work', '')`);
    await client.end();
  };
}

async function insertPending(client, queue, count, payload) {
  await client.query(
    `WITH new AS (INSERT INTO rhythm.executions (fence, id, bucket, type, target_name, queue, inputs)
      SELECT 0, ${ID}, n % 64, 'task', 'noop', $1, $3 FROM generate_series(1, $2::int) n RETURNING id, bucket)
    INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
    SELECT $1, 0, nextval('rhythm.queue_seq'), bucket, id, 0 FROM new`,
    [queue, count, payload],
  );
}

async function connect(url) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}
