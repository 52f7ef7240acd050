// The rows of one benchmark, which has queues of its own: their progress, their times, and their removal.

import { millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { deleteOwned } from '../owned-rows.js';

/** Where the rows of a benchmark are. */
export interface BenchmarkRows {
  /** The prefix of its workers' ids, and the name of its workflow. */
  name: string;
  queues: readonly string[];
  /** The first and the last id it started; ids are sorted by time, and those of steps begin with their run's. */
  firstId: string;
  lastId: string;
}

/** One execution that the benchmark started, with the database's times in milliseconds. */
export interface BenchmarkTime {
  type: 'task' | 'workflow';
  status: string;
  createdAt: number;
  finishedAt: number | null;
}

// The range of ids makes it a scan of the primary key: next to years of other runs, only those of these seconds are read.
const OWN = `e.id >= $1 AND e.id < $2 AND e.queue = ANY($3::text[])`;

const COUNT = sql(
  'count_benchmark',
  `SELECT count(*)::integer AS n FROM rhythm.executions e WHERE ${OWN} AND e.parent_id IS NULL AND e.finished_at IS NOT NULL`,
);

const TIMES = sql(
  'read_benchmark',
  `SELECT e.type, e.status, ${millis('e.created_at')} AS "createdAt",
    ${millis('e.finished_at')} AS "finishedAt"
  FROM rhythm.executions e WHERE ${OWN} AND e.parent_id IS NULL`,
);

// Whatever their status: only the benchmark uses these rows, and its workers have stopped.
const REMOVE = sql(
  'remove_benchmark',
  `WITH removable AS MATERIALIZED (SELECT e.id, e.bucket FROM rhythm.executions e WHERE ${OWN} LIMIT $4
  ), ${deleteOwned('removable')}, gone AS (DELETE FROM rhythm.executions t USING removable d WHERE t.id = d.id AND t.bucket = d.bucket RETURNING 1)
  SELECT count(*)::integer AS n FROM gone`,
);

const REMOVE_AROUND = sql(
  'remove_around_benchmark',
  `WITH a AS (DELETE FROM rhythm.work_queue WHERE queue = ANY($1::text[])
  ), b AS (DELETE FROM rhythm.claims WHERE starts_with(worker_id, $2::text)
  ), c AS (DELETE FROM rhythm.worker_heartbeats WHERE starts_with(worker_id, $2::text)
  ), f AS (DELETE FROM rhythm.workflow_programs WHERE name = $2::text)
  DELETE FROM rhythm.workflow_definitions WHERE name = $2::text`,
);

const BATCH = 2_000;

/** How many of its executions have ended. */
export async function countBenchmark(db: Runner, rows: BenchmarkRows): Promise<number> {
  return (await db.rows<{ n: number }>(COUNT, place(rows)))[0]!.n;
}

/** Every execution it started, without the steps of workflows. */
export async function readBenchmark(db: Runner, rows: BenchmarkRows): Promise<BenchmarkTime[]> {
  return db.rows(TIMES, place(rows));
}

/** Removes all it wrote, in small transactions. Its workers must have stopped. Returns the number of executions, steps included. */
export async function removeBenchmark(db: Runner, rows: BenchmarkRows): Promise<number> {
  await db.rows(REMOVE_AROUND, [rows.queues, rows.name]);
  // Nothing was started, and an empty first id would match every run.
  if (rows.firstId === '') return 0;
  let removed = 0;
  for (;;) {
    const { n } = (await db.rows<{ n: number }>(REMOVE, [...place(rows), BATCH]))[0]!;
    removed += n;
    if (n < BATCH) return removed;
  }
}

// `;` is the character after the `:` that separates the number of a step.
function place({ firstId, lastId, queues }: BenchmarkRows): unknown[] {
  return [firstId, `${lastId};`, queues];
}
