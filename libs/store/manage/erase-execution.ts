// Erases the data of a subject: a run with everything it called and everything stored for it, and what removed runs left behind.

import { exactText } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ENDED } from '../ended.js';
import { bucketOf } from '../ids.js';
import { OWNED_TABLES } from '../owned-rows.js';
import { isInTree } from '../relatives.js';
import { type DiscardedSnapshot, discardedSnapshotsOf } from './discarded-snapshots.js';
import { removeExecutions } from './remove-execution.js';
import type { WalkPlace } from './retention.js';

/** What was erased. */
export interface ErasedExecution {
  /** Runs and steps. */
  executions: number;
  tombstones: number;
  /** States outside the database, which are still to be removed from the snapshot store. */
  snapshots: DiscardedSnapshot[];
  /** Rows that no execution owned: signals that were sent before a start that never came. */
  others: number;
}

/** Why nothing was erased: this execution has not ended, or belongs to another one. */
export interface EraseRefusal {
  refused: { id: string; status: string; parentId: string | null };
}

// The tree of an execution, as `tree` shows it: what has an id of its own, and so a place of its own, is a root here. What was removed leads
// to what it had called.
// The caller may have been removed before what it called; the condition is that of the small index `executions_own_ids`.
const ROOTS = sql(
  'erase_roots',
  `WITH RECURSIVE roots AS (
    SELECT $1::text COLLATE "C" AS id, $2::smallint AS bucket
    UNION
    SELECT c.id, c.bucket FROM roots r, LATERAL (
      SELECT s.id, s.bucket FROM rhythm.executions s
      WHERE ${isInTree('s.parent_id', 'r.id')} AND s.parent_id IS NOT NULL AND NOT starts_with(s.id, s.parent_id || ':')
      UNION ALL
      SELECT t.id, t.bucket FROM rhythm.tombstones t WHERE t.parent_id IS NOT NULL AND ${isInTree('t.parent_id', 'r.id')}
    ) c
  )
  SELECT r.id FROM roots r JOIN rhythm.executions e ON e.id = r.id AND e.bucket = r.bucket`,
);

// A child whose outcome its parent has read is part of the parent's data.
const CALLER = sql(
  'erase_caller',
  `SELECT e.status, e.parent_id AS "parentId" FROM rhythm.executions e
  WHERE e.id = $1 AND e.bucket = $2 AND e.parent_id IS NOT NULL AND (e.parent_call IS NOT NULL OR starts_with(e.id, e.parent_id || ':'))
    AND EXISTS (SELECT FROM rhythm.executions p WHERE p.id = e.parent_id)`,
);

const LIVING = sql(
  'erase_living',
  `SELECT e.id, e.status FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
  JOIN rhythm.executions e ON e.bucket = d.bucket AND ${isInTree('e.id', 'd.id')} WHERE e.status NOT IN ${ENDED} OR e.pending IS NOT NULL LIMIT 1`,
);

const TOMBSTONES = sql(
  'erase_tombstones',
  `WITH RECURSIVE found AS (
    SELECT d.id COLLATE "C" AS id FROM unnest($1::text[]) AS d(id)
    UNION
    SELECT t.id FROM found f JOIN rhythm.tombstones t ON t.parent_id IS NOT NULL AND ${isInTree('t.parent_id', 'f.id')}
  )
  DELETE FROM rhythm.tombstones t USING found f WHERE t.id = f.id RETURNING t.id`,
);

const OTHERS = sql(
  'erase_others',
  `WITH ${OWNED_TABLES.map(
    (table) => `no_${table} AS (DELETE FROM rhythm.${table} t USING unnest($1::text[], $2::smallint[]) AS d(id, bucket)
    WHERE t.execution_id = d.id AND t.bucket = d.bucket RETURNING 1)`,
  ).join(', ')}
  SELECT (${OWNED_TABLES.map((table) => `(SELECT count(*) FROM no_${table})`).join(' + ')})::integer AS n`,
);

const LOOK = 5_000;
const TAGGED = sql(
  'tagged_executions',
  `WITH page AS MATERIALIZED (
    SELECT e.created_at, e.id, e.tags FROM rhythm.executions e WHERE (e.created_at, e.id) > ($1::timestamptz, $2)
    ORDER BY e.created_at, e.id LIMIT ${LOOK}
  ), last AS (SELECT * FROM page ORDER BY created_at DESC, id DESC LIMIT 1)
  SELECT coalesce((SELECT array_agg(id) FROM page WHERE $3 = ANY(tags)), '{}') AS ids, (SELECT count(*)::integer FROM page) AS looked,
    (SELECT ${exactText('created_at')} FROM last) AS at, (SELECT id FROM last) AS id`,
);
const TAGGED_TOMBSTONES = sql(
  'tagged_tombstones',
  `WITH page AS MATERIALIZED (SELECT t.id, t.tags FROM rhythm.tombstones t WHERE t.id > $1 ORDER BY t.id LIMIT ${LOOK})
  SELECT coalesce((SELECT array_agg(id) FROM page WHERE $2 = ANY(tags)), '{}') AS ids, (SELECT count(*)::integer FROM page) AS looked,
    (SELECT max(id) FROM page) AS id`,
);

// Rows that a claim would delete, of executions that have ended before. No index has the id: the table has what is runnable now, and erasing
// is rare.
const QUEUED = sql('erase_queued', 'DELETE FROM rhythm.work_queue WHERE execution_id = ANY($1::text[])');

/**
 * Erases an execution, in a transaction of the caller's, who rolls back when it is refused. No tombstone is left, and those of the
 * execution and of what it called are deleted.
 */
export async function eraseExecution(tx: Runner, id: string): Promise<ErasedExecution | EraseRefusal> {
  const refusal = await findEraseRefusal(tx, id);
  if (refusal) return refusal;
  const roots = await rootsOf(tx, id);
  const removed = roots.length > 0 ? await removeExecutions(tx, roots, { wholly: true }) : [];
  if (roots.some((root) => !removed.includes(root))) {
    const [living] = await tx.rows<{ id: string; status: string }>(LIVING, [roots, roots.map(bucketOf)]);
    return { refused: { id: living?.id ?? id, status: living?.status ?? 'changing', parentId: null } };
  }
  const ids = [...new Set([id, ...removed])];
  const tombstones = (await tx.rows<{ id: string }>(TOMBSTONES, [ids])).map((tombstone) => tombstone.id);
  const all = [...new Set([...ids, ...tombstones])];
  await tx.rows(QUEUED, [all]);
  const [{ n }] = await tx.rows<{ n: number }>(OTHERS, [all, all.map(bucketOf)]);
  const snapshots = await discardedSnapshotsOf(tx, all);
  return { executions: removed.length, tombstones: tombstones.length, snapshots, others: n };
}

/** Why an execution would not be erased now; undefined if it would. */
export async function findEraseRefusal(db: Runner, id: string): Promise<EraseRefusal | undefined> {
  const [child] = await db.rows<{ status: string; parentId: string }>(CALLER, [id, bucketOf(id)]);
  if (child) return { refused: { id, ...child } };
  const roots = await rootsOf(db, id);
  const [living] = roots.length > 0 ? await db.rows<{ id: string; status: string }>(LIVING, [roots, roots.map(bucketOf)]) : [];
  return living && { refused: { ...living, parentId: null } };
}

async function rootsOf(db: Runner, id: string): Promise<string[]> {
  return (await db.rows<{ id: string }>(ROOTS, [id, bucketOf(id)])).map((root) => root.id);
}

/** The ids of all executions with a tag, and of removed ones. No index has the tags: everything is looked at, a few thousand rows at a time. */
export async function findTagged(db: Runner, tag: string): Promise<string[]> {
  const ids: string[] = [];
  let place: WalkPlace | undefined = { at: '-infinity', id: '' };
  while (place) {
    const [page]: (WalkPlace & { ids: string[]; looked: number })[] = await db.rows(TAGGED, [place.at, place.id, tag]);
    ids.push(...page.ids);
    place = page.looked === LOOK ? page : undefined;
  }
  let after: string | undefined = '';
  while (after !== undefined) {
    const [page]: { ids: string[]; looked: number; id: string }[] = await db.rows(TAGGED_TOMBSTONES, [after, tag]);
    ids.push(...page.ids);
    after = page.looked === LOOK ? page.id : undefined;
  }
  return ids;
}
