// Gives claimed work back to the queue: at shutdown, after a claim whose reply was lost, and for workers that died.

import { inMs } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE, ENDED } from '../ended.js';
import { NO_FENCE, newFence } from '../fence.js';
import { namesWorker } from '../pending-steps.js';
import { enqueue, wake } from '../work-queue.js';
import { recoverSteps } from './take-steps.js';

/** An execution at the fence at which it was claimed. */
type ItemAtFence = { id: string; bucket: number; fence: number };

/** One execution that was put off. */
export interface PutOff {
  id: string;
  bucket: number;
  /** Of a task: the fence it has now. */
  fence: number | null;
}

/** What was taken from a dead worker. */
export interface Recovered {
  given: GivenBack[];
  /** Executions that could not be taken yet: an open transaction still holds their rows. */
  left: number;
}

/** One execution that was given back or taken from a dead worker. */
export interface GivenBack {
  id: string;
  queue: string;
  name: string;
  crashes: number;
  /** It has crashed its workers too often and was failed instead. */
  quarantined: boolean;
}

// A workflow that is not returned (another worker has moved it, or it is paused) is woken again: its queue row may have been the
// wake of an event that no other turn has read. So is a task with a cancel request in its inbox. One that has ended is woken if
// something is left for it: the claim of that wake deletes it. Whether it was returned is read from the update itself: this
// statement's snapshot may be older than the commit that the update waited for.
const HAS_EVENTS = `EXISTS (SELECT 1 FROM rhythm.inbox o WHERE o.execution_id = e.id AND o.bucket = e.bucket)`;
const HAS_LEFTOVERS = `e.status <> 'failed' AND (${HAS_EVENTS}
      OR EXISTS (SELECT 1 FROM rhythm.signals o WHERE o.execution_id = e.id AND o.bucket = e.bucket))`;
const TO_BE_WOKEN = `items i JOIN rhythm.executions e ON e.id = i.id AND e.bucket = i.bucket
    WHERE e.type = 'workflow' AND e.id <> ALL(ARRAY(SELECT id FROM returned)) AND (e.status NOT IN ${ENDED} OR ${HAS_LEFTOVERS})
      OR e.type = 'task' AND ${HAS_EVENTS}`;
// A task whose next attempt is scheduled, or that was handed over, was claimed only for its events: it keeps its fence, its time
// and its token.
const WAS_TO_RUN = `NOT (e.type = 'task' AND (e.status = 'suspended' OR EXISTS (
        SELECT 1 FROM rhythm.scheduled_queue s WHERE s.execution_id = e.id AND s.bucket = e.bucket AND s.kind = 'run' AND s.fence = e.fence)))`;
// The fence is replaced here, so a late write of the worker that held the work matches no row.
const returned = (fence: string, crash: 0 | 1) => `returned AS (
    UPDATE rhythm.executions e SET fence = ${fence}::bigint, crashes = e.crashes + ${crash}
    FROM items i WHERE e.id = i.id AND e.bucket = i.bucket AND e.fence = i.fence AND e.status IN ${ACTIVE}
      AND ${WAS_TO_RUN}
    RETURNING e.id, e.bucket, e.type, e.status, e.queue, e.priority, e.fence, e.crashes, e.target_name, e.parent_id, e.parent_call, e.attempts
  ), requeued AS (
    ${enqueue('returned')}
  ), rewoken AS (
    ${wake(TO_BE_WOKEN)}
  )`;

// Items still held by the worker stay out of it; its claim row goes when they end. So does the claim of a run that has steps of this
// worker in its row: they are found by it.
const GIVE_BACK = sql(
  'give_back',
  `WITH gone AS (
    DELETE FROM rhythm.claims c WHERE c.worker_id = $1 AND c.claim_id = ANY($2) AND NOT EXISTS (
      SELECT FROM unnest(c.ids, c.buckets, c.fences) AS i(id, bucket, fence)
      JOIN rhythm.executions e ON e.id = i.id AND e.bucket = i.bucket AND ${namesWorker('e.pending', '$1')} WHERE i.fence = ${NO_FENCE}
    ) RETURNING c.ids, c.buckets, c.fences
  ), items AS MATERIALIZED (
    SELECT DISTINCT i.id, i.bucket, i.fence FROM gone, unnest(gone.ids, gone.buckets, gone.fences) AS i(id, bucket, fence)
  ), ${returned('$3', 0)}
  SELECT id, queue, target_name AS name, crashes, false AS quarantined FROM returned`,
);

const GIVEN_ITEMS = `items AS MATERIALIZED (
    SELECT * FROM unnest($3::text[], $4::smallint[], $5::bigint[]) AS i(id, bucket, fence)
  ), gone AS (DELETE FROM rhythm.claims c WHERE c.worker_id = $1 AND c.claim_id = ANY($2)
  )`;

const GIVE_BACK_SOME = sql(
  'give_back_some',
  `WITH ${GIVEN_ITEMS}, ${returned('$6', 0)}
  SELECT id, queue, target_name AS name, crashes, false AS quarantined FROM returned`,
);

// Like giving back, but the work is runnable only after a delay: for work that this worker must not hold now. A cancel request of
// a task is read before the task may run.
const putOff = (crash: string) => `WITH ${GIVEN_ITEMS}, returned AS (
    UPDATE rhythm.executions e SET fence = $7::bigint${crash}
    FROM items i WHERE e.id = i.id AND e.bucket = i.bucket AND e.fence = i.fence AND e.status IN ${ACTIVE} AND ${WAS_TO_RUN}
    RETURNING e.id, e.bucket, e.type, e.fence
  ), rewoken AS (
    INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
    SELECT e.id, e.bucket, 'wake', 0, ${inMs(`$6 * CASE WHEN e.type = 'task' THEN 0.5 ELSE 1 END`)}
    FROM ${TO_BE_WOKEN}
    ON CONFLICT (execution_id, bucket, kind, call) DO UPDATE SET due_at = least(rhythm.scheduled_queue.due_at, excluded.due_at)
  )
  INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at, fence)
  SELECT id, bucket, 'run', 0, ${inMs('$6')}, CASE WHEN type = 'task' THEN fence END FROM returned
  ON CONFLICT (execution_id, bucket, kind, call) DO UPDATE
    SET due_at = greatest(rhythm.scheduled_queue.due_at, excluded.due_at), fence = excluded.fence
  RETURNING execution_id AS id, bucket, fence, due_at > ${inMs('$6')} AS later`;

const PUT_OFF = sql('put_off', putOff(''));
// For a run whose turn ended the process that ran it, but not its worker: nobody else would count that.
const PUT_OFF_CRASHED = sql('put_off_crashed', putOff(', crashes = e.crashes + 1, note = $8'));

// The heartbeat is deleted only if it has not changed since the sweeper last read it; a worker that finds its row gone is replaced by a new one.
// Nothing here waits for a lock: a frozen worker's transactions may hold rows of its work until the server ends them. Rows that
// are not locked are taken, the rest stays in its claims, and the sweeper comes back for it. So does a run that still has steps of the
// dead worker: they are queued by a statement before this one, which may have found the row locked. A run that is only listed because
// it had steps in place is not held, so it is not woken.
// In a list of columns `IN (SELECT …)` is looked up in a hash table. As an array in a condition it is searched for every row: with
// 10,000 runs that held their locks for more than 3 s.
const RECOVER = sql(
  'recover_worker',
  `WITH dead AS (
    DELETE FROM rhythm.worker_heartbeats w WHERE w.worker_id = $1 AND w.beats = $2 RETURNING w.worker_id
  ), held AS MATERIALIZED (
    SELECT c.claim_id, c.ids, c.buckets, c.fences FROM rhythm.claims c WHERE c.worker_id = $1
      AND (EXISTS (SELECT 1 FROM dead) OR NOT EXISTS (SELECT 1 FROM rhythm.worker_heartbeats w WHERE w.worker_id = $1))
    FOR UPDATE SKIP LOCKED
  ), listed AS MATERIALIZED (
    SELECT h.claim_id, i.id, i.bucket, i.fence FROM held h, unnest(h.ids, h.buckets, h.fences) AS i(id, bucket, fence)
  ), free AS MATERIALIZED (
    SELECT e.id FROM (SELECT DISTINCT id, bucket FROM listed) l JOIN rhythm.executions e ON e.id = l.id AND e.bucket = l.bucket
    WHERE NOT ${namesWorker('e.pending', '$1')} FOR UPDATE OF e SKIP LOCKED
  ), found AS MATERIALIZED (
    SELECT l.*, l.id IN (SELECT id FROM free) AS is_free FROM listed l
  ), busy AS MATERIALIZED (
    SELECT l.claim_id, l.id, l.bucket, l.fence FROM found l WHERE NOT l.is_free
      AND EXISTS (SELECT 1 FROM rhythm.executions e WHERE e.id = l.id AND e.bucket = l.bucket)
  ), gone AS (
    DELETE FROM rhythm.claims c WHERE c.worker_id = $1 AND c.claim_id = ANY(ARRAY(SELECT claim_id FROM held EXCEPT SELECT claim_id FROM busy))
  ), shortened AS (
    UPDATE rhythm.claims c SET ids = b.ids, buckets = b.buckets, fences = b.fences
    FROM (SELECT claim_id, array_agg(id) AS ids, array_agg(bucket) AS buckets, array_agg(fence) AS fences FROM busy GROUP BY claim_id) b
    WHERE c.worker_id = $1 AND c.claim_id = b.claim_id
  ), items AS MATERIALIZED (
    SELECT DISTINCT l.id, l.bucket, l.fence FROM found l WHERE l.is_free AND l.fence <> ${NO_FENCE}
  ), ${returned('$4', 1)}, noted AS (
    INSERT INTO rhythm.history (execution_id, bucket, seq, kind, worker_id, detail)
    SELECT id, bucket, nextval('rhythm.event_seq'), 'recovered', $1, jsonb_build_object('crashes', crashes) FROM returned
  )
  SELECT id, queue, target_name AS name, crashes, crashes > $3 AS quarantined, 0 AS left FROM returned
  UNION ALL SELECT NULL, NULL, NULL, 0, false, (SELECT count(*) FROM busy)::integer WHERE EXISTS (SELECT 1 FROM dead) OR EXISTS (SELECT 1 FROM busy)`,
);

/** Gives back whole claims of a worker: those whose reply was lost, or all of them at shutdown. */
export async function giveBackClaims(db: Runner, workerId: string, claimIds: readonly string[], fence = newFence()): Promise<GivenBack[]> {
  return db.rows<GivenBack>(GIVE_BACK, [workerId, claimIds, fence]);
}

/** Gives back some items, and deletes the claims that have no other items left. */
export async function giveBackItems(
  db: Runner,
  workerId: string,
  items: readonly ItemAtFence[],
  doneClaims: readonly string[],
  fence = newFence(),
): Promise<GivenBack[]> {
  return db.rows<GivenBack>(GIVE_BACK_SOME, [workerId, doneClaims, ...itemColumns(items), fence]);
}

/** Gives back items, runnable again after a delay. Returns those that will be: not those that were already put off for longer. */
export async function putOffItems(
  db: Runner,
  workerId: string,
  items: readonly ItemAtFence[],
  doneClaims: readonly string[],
  delayMs: number,
  fence = newFence(),
): Promise<PutOff[]> {
  const values = [workerId, doneClaims, ...itemColumns(items), delayMs, fence];
  const rows = await db.rows<PutOff & { later: boolean }>(PUT_OFF, values);
  return rows.filter((row) => !row.later).map(({ later: _, ...item }) => item);
}

/** Gives back a run of which a turn crashed, runnable again after a delay; the note says why. */
export async function putOffCrashed(
  db: Runner,
  workerId: string,
  item: ItemAtFence,
  doneClaims: readonly string[],
  delayMs: number,
  note: string,
  fence = newFence(),
): Promise<void> {
  await db.rows(PUT_OFF_CRASHED, [workerId, doneClaims, ...itemColumns([item]), delayMs, fence, note]);
}

/**
 * Takes over from a worker that has been silent too long: its heartbeat goes, its work returns to the queue at a new fence.
 * Returns undefined when there was nothing to take: it was alive, or another worker was faster. Safe to run from
 * every worker at once, and again for as long as something is left.
 */
export async function recoverWorker(
  db: Runner,
  workerId: string,
  beats: number,
  maxCrashes: number,
  newFences = newFence,
): Promise<Recovered | undefined> {
  const steps = await recoverSteps(db, workerId, beats, newFences);
  const rows = await db.rows<GivenBack & { id: string | null; left: number }>(RECOVER, [workerId, beats, maxCrashes, newFences()]);
  if (rows.length === 0 && steps.length === 0) return undefined;
  const given = rows.filter((row) => row.id !== null).map(({ left: _, ...item }) => item);
  return { given: [...steps, ...given], left: rows.reduce((sum, row) => sum + row.left, 0) };
}

function itemColumns(items: readonly ItemAtFence[]): [ids: string[], buckets: number[], fences: number[]] {
  return [items.map(({ id }) => id), items.map(({ bucket }) => bucket), items.map(({ fence }) => fence)];
}
