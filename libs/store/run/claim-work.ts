// Takes runnable work from the queue for one worker.

import { CLOCK } from '../clock.js';
import { type Runner, type Statement, sql } from '../connect/statement.js';
import { LIVE } from '../ended.js';
import { jsonText } from '../json-columns.js';
import type { ExecutionOptions } from '../new-execution.js';

/** A claimed execution: all that a worker needs to run a task, or to load a workflow. */
export interface ClaimedItem {
  id: string;
  bucket: number;
  type: 'task' | 'workflow';
  name: string;
  queue: string;
  priority: number;
  status: 'pending' | 'suspended' | 'paused';
  /** The fence that the execution must still have when the result is written. */
  fence: number;
  attempts: number;
  crashes: number;
  parentId: string | null;
  parentCall: number | null;
  version: string | null;
  options: ExecutionOptions | null;
  tags: string[] | null;
  progress: unknown;
  /** True for "run this task"; false for "read your events". */
  run: boolean;
  /** Its place in the queue, by age. */
  seq: number;
  /** JSON text of a task's input; null for `undefined` and for workflows. */
  input: string | null;
  /** When a workflow was started, in milliseconds; null for tasks. */
  createdAt: number | null;
  /** The run received its cancellation in an earlier turn. */
  cancelled: boolean;
}

/** The result of a claim. */
export interface Claim {
  claimId: string;
  items: ClaimedItem[];
  /** Queue rows taken; fewer than asked for means that the queues are empty. */
  taken: number;
  /** Executions that were woken and cannot run: they have ended, and events that came too late for them can be deleted. */
  ended: string[];
  /** The database's clock at the claim, in milliseconds. */
  now: number;
  /** The last place in each queue that something was taken from. */
  places: QueuePlaces;
  /** There is something in other lanes of the queues; only claims from the head check this. */
  lanes: boolean;
}

/** A place in the order of each queue. */
export type QueuePlaces = ReadonlyMap<string, { rank: number; seq: number }>;

const HEAD = `unnest($3::text[]) AS q(name), LATERAL (
        SELECT w.ctid FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane = '' ORDER BY w.rank, w.seq LIMIT $4 FOR UPDATE SKIP LOCKED
      )`;
// Starts after a place that the worker reached before, and takes whatever is more urgent first. Rows that others hold or have
// taken stay at the head until a vacuum, and a claim steps over each of them. An old transaction keeps all of them there: with one
// open, the drain of 40,000 tasks went from 38k to 62k per second, the server's time per task from 24 to 10 µs.
const BEHIND = `unnest($3::text[], $5::smallint[], $6::bigint[]) AS q(name, rank, seq), LATERAL (
        SELECT * FROM (
          SELECT w.ctid FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane = '' AND w.rank < q.rank ORDER BY w.rank, w.seq LIMIT $4 FOR UPDATE SKIP LOCKED
        ) urgent UNION ALL SELECT * FROM (
          SELECT w.ctid FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane = '' AND (w.rank, w.seq) > (q.rank, q.seq) ORDER BY w.rank, w.seq LIMIT $4 FOR UPDATE SKIP LOCKED
        ) further
      )`;

// It cannot be in JSON, which has no control characters but white space.
const MARK = '\x1f';
const packed = (column: string) => `string_agg(${column}, chr(31))`;
// Tasks of which nothing is to be said but their id, their name and their input.
const IS_ORDINARY = `e.type = 'task' AND p.fence IS NOT NULL AND e.attempts = 0 AND e.crashes = 0 AND e.options IS NULL AND e.tags IS NULL AND e.progress IS NULL
        AND e.cancelled_at IS NULL AND (e.parent_id IS NULL OR (e.id = e.parent_id || ':' || e.parent_call) IS TRUE) AND strpos(e.id, chr(31)) = 0`;
// One string holds the inputs of all of them, and V8's strings end at 512 MB.
const IS_PACKED = '(ordinary AND coalesce(octet_length(input), 0) <= 4096) IS TRUE';

const PACKED_ITEMS = `UNION ALL
  SELECT ${packed('id')}, NULL, NULL, target_name, queue, NULL, NULL, NULL, NULL, rank, NULL, NULL, ${packed(`coalesce(input, '')`)}, NULL,
    json_build_object('isChild', parent_id IS NOT NULL, 'buckets', ${packed('bucket::text')}, 'fences', ${packed('fence::text')}, 'seqs', ${packed('seq::text')})
    FROM items WHERE ${IS_PACKED} GROUP BY target_name, queue, rank, parent_id IS NOT NULL`;

// Deleting queue rows and one lease row per batch: 48–57k tasks/s at batch 100 and 410–680 WAL bytes per task, compared with
// 27–39k and twice the WAL for status updates. Rows are deleted by ctid: they are locked here and never updated, so it cannot move. Executions
// are only read; two workers may hold the same run, and the fence lets one of them commit.
// Every column of every row is written, read and copied. So what few executions have is one column, NULL for the rest, and what
// concerns the whole claim is one row, the first. A claim from a full queue (behind a place) has ordinary tasks packed: one row per
// name, queue and priority, with strings that hold what differs (CPU per task of the server +0.6 µs, of Node −2.4 of 6.7 µs). For
// the few rows of a claim from an empty queue the grouping costs more than it saves.
// Whether there are other lanes is checked by claims from the head: one probe of the index per queue.
export const claimStatement = (name: string, pick: string, { more = '', lanes = 'false', isPacked = false } = {}) =>
  sql(
    name,
    `WITH picked AS (
    DELETE FROM rhythm.work_queue WHERE ctid = ANY(ARRAY(SELECT p.ctid FROM ${pick} p LIMIT $4))
    RETURNING execution_id, bucket, rank, seq, fence
  ), items AS MATERIALIZED (
    SELECT e.id, e.bucket, e.type, e.target_name, e.queue, e.fence, e.parent_id, e.parent_call, e.version, p.rank, p.seq, p.fence IS NOT NULL AS run,
      CASE WHEN e.type = 'task' THEN ${jsonText('inputs')} END AS input,
      CASE WHEN e.type = 'workflow' THEN floor(extract(epoch FROM e.created_at) * 1000)::float8 END AS created_at,
      CASE WHEN e.status <> 'pending' OR e.attempts > 0 OR e.crashes > 0 OR e.options IS NOT NULL OR e.tags IS NOT NULL OR e.progress IS NOT NULL OR e.cancelled_at IS NOT NULL
        THEN json_build_object('status', e.status, 'attempts', e.attempts, 'crashes', e.crashes, 'options', e.options, 'tags', e.tags, 'progress', e.progress,
          'cancelled', e.cancelled_at IS NOT NULL) END AS more${isPacked ? `, ${IS_ORDINARY} AS ordinary` : ''}
    FROM picked p JOIN rhythm.executions e ON e.id = p.execution_id AND e.bucket = p.bucket
    WHERE (p.fence = e.fence AND e.status = 'pending') OR (p.fence IS NULL AND e.status IN ${LIVE})
  ), held AS (
    INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences)
    SELECT $1, $2, array_agg(id), array_agg(bucket), array_agg(fence) FROM items HAVING count(*) > 0
  )${more}
  SELECT NULL AS id, NULL::smallint AS bucket, NULL AS type, NULL AS name, NULL AS queue, NULL::bigint AS fence, NULL AS "parentId", NULL::integer AS "parentCall", NULL AS version,
    NULL::smallint AS rank, NULL::bigint AS seq, NULL::boolean AS run, NULL AS input, NULL::float8 AS "createdAt",
    json_build_object('taken', (SELECT count(*) FROM picked), 'now', extract(epoch FROM ${CLOCK}) * 1000, 'lanes', ${lanes},
      'ended', (SELECT array_agg(p.execution_id) FROM picked p WHERE p.fence IS NULL AND p.execution_id <> ALL(ARRAY(SELECT id FROM items)))) AS more
  ${isPacked ? PACKED_ITEMS : ''}
  UNION ALL
  SELECT id, bucket, type, target_name, queue, fence, parent_id, parent_call, version, rank, seq, run, input, created_at, more
    FROM items ${isPacked ? `WHERE NOT ${IS_PACKED}` : ''}`,
  );
const HAS_LANES = `EXISTS (SELECT 1 FROM unnest($3::text[]) AS q(name), LATERAL (SELECT 1 FROM rhythm.work_queue w WHERE w.queue = q.name AND w.lane > '' LIMIT 1) o)`;
const CLAIM = claimStatement('claim_work', HEAD, { lanes: HAS_LANES });
const CLAIM_BEHIND = claimStatement('claim_work_behind', BEHIND, { isPacked: true });
const FIRST = { rank: -32_768, seq: 0 };

type Columns =
  | 'id'
  | 'bucket'
  | 'type'
  | 'name'
  | 'queue'
  | 'fence'
  | 'parentId'
  | 'parentCall'
  | 'version'
  | 'run'
  | 'seq'
  | 'input'
  | 'createdAt';
type ItemRow = Pick<ClaimedItem, Columns> & { rank: number; more: Partial<ClaimedItem> | null };
/** Ordinary tasks of one name, queue and priority; each string holds one value per task. */
type PackedRow = Pick<ClaimedItem, 'id' | 'name' | 'queue'> & {
  bucket: null;
  rank: number;
  input: string;
  more: { isChild: boolean; buckets: string; fences: string; seqs: string };
};
type HeadRow = { id: null; more: Pick<Claim, 'taken' | 'now' | 'lanes'> & { ended: string[] | null } };

/**
 * Claims up to `limit` rows of the given queues, the first queue first. The claim id is the worker's own choice. With places it
 * takes only what comes after them and what is more urgent: rows of the same urgency that were committed late stay where they are.
 */
export async function claimWork(
  db: Runner,
  workerId: string,
  claimId: string,
  queues: readonly string[],
  limit: number,
  behind?: QueuePlaces,
): Promise<Claim> {
  const from = behind && queues.map((queue) => behind.get(queue) ?? FIRST);
  const bounds = from ? [from.map(({ rank }) => rank), from.map(({ seq }) => seq)] : [];
  return readClaim(db, from ? CLAIM_BEHIND : CLAIM, claimId, [workerId, claimId, queues, limit, ...bounds]);
}

/** Runs a claim and reads its rows. */
export async function readClaim(db: Runner, statement: Statement, claimId: string, values: readonly unknown[]): Promise<Claim> {
  const rows = await db.rows<HeadRow | PackedRow | ItemRow>(statement, values);
  const { taken, now, ended, lanes } = (rows[0] as HeadRow).more;
  const items: ClaimedItem[] = [];
  for (let n = 1; n < rows.length; n++) {
    const row = rows[n] as PackedRow | ItemRow;
    if (row.bucket === null) unpack(row, items);
    else items.push(itemOf(row));
  }
  items.sort((a, b) => b.priority - a.priority || a.seq - b.seq);
  const places = new Map<string, { rank: number; seq: number }>();
  items.forEach(({ queue, priority, seq }, n) => {
    if (items[n + 1]?.queue !== queue) places.set(queue, { rank: 0 - priority, seq });
  });
  return { claimId, items, taken, ended: ended ?? [], now, places, lanes };
}

function unpack({ id: ids, name, queue, rank, input, more }: PackedRow, items: ClaimedItem[]): void {
  const [buckets, fences, seqs, inputs] = [more.buckets, more.fences, more.seqs, input].map((column) => column.split(MARK));
  ids.split(MARK).forEach((id, n) => {
    const colon = more.isChild ? id.lastIndexOf(':') : -1;
    items.push({
      id,
      bucket: Number(buckets[n]),
      type: 'task',
      name,
      queue,
      priority: 0 - rank,
      status: 'pending',
      fence: Number(fences[n]),
      attempts: 0,
      crashes: 0,
      parentId: more.isChild ? id.slice(0, colon) : null,
      parentCall: more.isChild ? Number(id.slice(colon + 1)) : null,
      version: null,
      options: null,
      tags: null,
      progress: null,
      run: true,
      seq: Number(seqs[n]),
      input: inputs[n] === '' ? null : inputs[n],
      createdAt: null,
      cancelled: false,
    });
  });
}

function itemOf(row: ItemRow): ClaimedItem {
  const { more } = row;
  return {
    id: row.id,
    bucket: row.bucket,
    type: row.type,
    name: row.name,
    queue: row.queue,
    priority: 0 - row.rank,
    status: more?.status ?? 'pending',
    fence: row.fence,
    attempts: more?.attempts ?? 0,
    crashes: more?.crashes ?? 0,
    parentId: row.parentId,
    parentCall: row.parentCall,
    version: row.version,
    options: more?.options ?? null,
    tags: more?.tags ?? null,
    progress: more?.progress ?? null,
    run: row.run,
    seq: row.seq,
    input: row.input,
    createdAt: row.createdAt,
    cancelled: more?.cancelled ?? false,
  };
}
