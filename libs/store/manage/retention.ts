// Retention by the workers: walks all executions from the oldest to the newest, a few at a time, and removes those that are old enough.

import { CLOCK, exactText } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { removeExecutions } from './remove-execution.js';

/** How long what has ended is kept, in milliseconds; null for ever. */
export interface RetentionAges {
  completedMs: number | null;
  failedMs: number | null;
  cancelledMs: number | null;
  /** Of the entries in the history of runs that are kept. */
  historyMs: number | null;
  /** Of tombstones, and of signals to ids under which no workflow was started. */
  keysMs: number | null;
}

/** The bounds of one step of the walk. */
export interface RetentionBounds {
  /** Most executions that are looked at. */
  look: number;
  /** Most that are removed, counting the calls of each run; at least one run. */
  remove: number;
  /** A walk begins this long after the last one began. */
  walkEveryMs: number;
}

/** What a step did. */
export interface RetentionStep {
  /** `other`: another worker is doing this. `idle`: the next walk is not due yet. `ended`: the walk came to its end. */
  state: 'other' | 'idle' | 'walking' | 'ended';
  looked: number;
  /** Ids of what was removed, steps included. */
  removed: string[];
}

// The lock belongs to the transaction, so that it works behind a pooler and ends with this process.
const LOCK = sql('retention_lock', `SELECT pg_try_advisory_xact_lock(hashtextextended('rhythm.retention', 0)) AS mine`);

const PLACE = sql(
  'retention_place',
  `SELECT CASE WHEN isfinite(place_at) THEN ${exactText('place_at')} ELSE '-infinity' END AS at, place_id AS id, started_at <= ${CLOCK} - $2::float8 * interval '1 millisecond' AS "isDue"
  FROM rhythm.retention_walks WHERE name = $1`,
);

const BEGIN = sql(
  'retention_begin',
  `INSERT INTO rhythm.retention_walks (name, started_at, place_at, place_id) VALUES ($1, ${CLOCK}, '-infinity', '')
  ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at, place_at = excluded.place_at, place_id = excluded.place_id`,
);

const MOVE = sql('retention_move', `UPDATE rhythm.retention_walks SET place_at = $2::timestamptz, place_id = $3 WHERE name = $1`);

// No index has what has ended: one on a column that the end of a run writes would cost every run 40 % more WAL. The index on the time
// of the start is walked instead, from a place that is remembered, so a run that lives on is looked at once per walk and not once per
// step, however many of them stand before those that have ended.
// A run may be removed when nothing is above it that could still read its outcome: a child goes with its parent. One with an id of its
// own is removed after its parent, a detached one by itself.
const page = (name: string, more: string) =>
  sql(
    name,
    `WITH page AS MATERIALIZED (
    SELECT e.created_at, e.id, e.bucket, e.status, e.finished_at, e.parent_id, e.parent_call, coalesce(e.calls, 0) AS calls
    FROM rhythm.executions e
    WHERE (e.created_at, e.id) > ($1::timestamptz, $2) AND e.created_at < ${CLOCK} - $3::float8 * interval '1 millisecond'
    ORDER BY e.created_at, e.id LIMIT $4
  ), old AS (
    SELECT p.id, p.calls, ${exactText('p.created_at')} AS at FROM page p
    WHERE p.finished_at < ${CLOCK} - CASE p.status WHEN 'completed' THEN $5::float8 WHEN 'failed' THEN $6::float8 WHEN 'cancelled' THEN $7::float8 END * interval '1 millisecond'
      AND (p.parent_id IS NULL OR (NOT starts_with(p.id, p.parent_id || ':')
        AND (p.parent_call IS NULL OR NOT EXISTS (SELECT FROM rhythm.executions a WHERE a.id = p.parent_id))))
    ORDER BY p.created_at, p.id
  )${more}
  SELECT (SELECT count(*)::integer FROM page) AS looked, coalesce((SELECT array_agg(id) FROM old), '{}') AS ids,
    coalesce((SELECT array_agg(calls) FROM old), '{}') AS calls, coalesce((SELECT array_agg(at) FROM old), '{}') AS ats,
    (SELECT ${exactText('created_at')} FROM page ORDER BY created_at DESC, id DESC LIMIT 1) AS at,
    (SELECT id FROM page ORDER BY created_at DESC, id DESC LIMIT 1) AS id`,
  );
const PAGE = page('retention_page', '');
// What is left over the limit is deleted by the next walk.
const PAGE_WITH_HISTORY = page(
  'retention_page_with_history',
  `, trimmed AS (
    DELETE FROM rhythm.history WHERE ctid = ANY(ARRAY(
      SELECT h.ctid FROM page p JOIN rhythm.history h ON h.execution_id = p.id AND h.bucket = p.bucket
      WHERE h.at < ${CLOCK} - $8::float8 * interval '1 millisecond' LIMIT $9))
  )`,
);
const MOST_HISTORY = 10_000;

interface Page {
  looked: number;
  /** What may be removed: the ids, the highest call of each, and the times at which they were started. */
  ids: string[];
  calls: number[];
  ats: string[];
  /** The last that was looked at. */
  at: string;
  id: string;
}

/** Where a walk goes on. */
export interface WalkPlace {
  at: string;
  id: string;
}

const WALK = 'executions';

/** Takes the one lock of retention, until the end of the transaction. Returns false if another worker has it. */
export async function lockRetention(tx: Runner): Promise<boolean> {
  return (await tx.rows<{ mine: boolean }>(LOCK))[0].mine;
}

/** Where a walk goes on; undefined if it has been to the end and the next one is not due. */
export async function walkPlace(tx: Runner, walk: string, everyMs: number): Promise<WalkPlace | undefined> {
  const [place] = await tx.rows<{ at: string; id: string | null; isDue: boolean }>(PLACE, [walk, everyMs]);
  if (place && place.id !== null) return { at: place.at, id: place.id };
  if (place && !place.isDue) return undefined;
  await tx.rows(BEGIN, [walk]);
  return { at: '-infinity', id: '' };
}

/** Stores the place that a walk has reached; without one it has been to the end. */
export async function moveWalk(tx: Runner, walk: string, place?: WalkPlace): Promise<void> {
  await tx.rows(MOVE, [walk, place?.at ?? null, place?.id ?? null]);
}

/**
 * One step of the walk over all executions, in a transaction of the caller's: what is removed and the place that was reached commit
 * together, so a worker that dies in the middle has removed nothing and skipped nothing.
 */
export async function retain(tx: Runner, ages: RetentionAges, { look, remove, walkEveryMs }: RetentionBounds): Promise<RetentionStep> {
  if (!(await lockRetention(tx))) return { state: 'other', looked: 0, removed: [] };
  const place = await walkPlace(tx, WALK, walkEveryMs);
  if (!place) return { state: 'idle', looked: 0, removed: [] };
  const youngest = youngestOf(ages);
  if (youngest === undefined) {
    await moveWalk(tx, WALK);
    return { state: 'ended', looked: 0, removed: [] };
  }
  const values = [place.at, place.id, youngest, look, ages.completedMs, ages.failedMs, ages.cancelledMs];
  const [page] =
    ages.historyMs === null
      ? await tx.rows<Page>(PAGE, values)
      : await tx.rows<Page>(PAGE_WITH_HISTORY, [...values, ages.historyMs, MOST_HISTORY]);
  const most = countWithin(page.calls, remove);
  const removed = most > 0 ? await removeExecutions(tx, page.ids.slice(0, most), { skipHeld: true }) : [];
  const isCut = most < page.ids.length;
  const isLast = !isCut && page.looked < look;
  await moveWalk(tx, WALK, isLast ? undefined : isCut ? { at: page.ats[most - 1], id: page.ids[most - 1] } : page);
  return { state: isLast ? 'ended' : 'walking', looked: page.looked, removed };
}

function youngestOf({ completedMs, failedMs, cancelledMs, historyMs }: RetentionAges): number | undefined {
  const ages = [completedMs, failedMs, cancelledMs, historyMs].filter((age) => age !== null);
  return ages.length > 0 ? Math.min(...ages) : undefined;
}

// How many of these runs have at most so many calls together. The first is removed whatever it has.
function countWithin(calls: readonly number[], most: number): number {
  let sum = 0;
  for (const [index, count] of calls.entries()) {
    sum += 1 + count;
    if (index > 0 && sum > most) return index;
  }
  return calls.length;
}
