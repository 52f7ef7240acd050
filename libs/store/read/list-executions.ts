// Lists executions, newest first, page by page.

import { exactText } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE } from '../ended.js';
import { NO_FENCE } from '../fence.js';
import { bucketOf } from '../ids.js';
import { isBelow, isChildWithOwnId } from '../relatives.js';
import { waitName } from '../waiting-rows.js';
import { endedStepRows, ownRows, pendingStepRows, RUNS_WITH_STEPS, rowsNamed } from './execution-rows.js';
import { type ExecutionRecord, type ExecutionStatus, HELD, RECORD, STATUS, WITH_HOLDER, WITH_HOLDER_OF_PAGE } from './read-execution.js';
import { allSuspended, isWaitingFor, type WaitingFilter, waitingFor } from './waiting-source.js';

/** What to list; absent means any. */
export interface ExecutionFilter {
  status?: ExecutionStatus | readonly ExecutionStatus[];
  type?: 'task' | 'workflow';
  name?: string;
  queue?: string;
  /** Children of this execution; null: only executions without a parent. */
  parentId?: string | null;
  tag?: string;
  createdAfter?: Date;
  createdBefore?: Date;
  waitsFor?: WaitingFilter;
  limit?: number;
  /** The `next` of the page before. */
  cursor?: string;
}

export interface ExecutionPage {
  items: ExecutionRecord[];
  /** Pass it as `cursor` for the next page; absent on the last one. */
  next?: string;
}

// No index of `executions` contains the status (completion would no longer be a HOT update), so each status has its own source:
// the small tables that hold exactly those rows, or the index on time for statuses that most rows have.
const SOURCES: Partial<Record<ExecutionStatus, string>> = {
  failed: `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = 'failed'`,
  cancelled: `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = 'cancelled'`,
  paused: `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = 'paused'`,
  running: `SELECT id, bucket FROM (${HELD}) held`,
  pending: `SELECT execution_id AS id, bucket FROM rhythm.work_queue UNION SELECT execution_id, bucket FROM rhythm.scheduled_queue WHERE kind = 'run'`,
  suspended: allSuspended('')
    .map(({ from, where }) => `SELECT w.execution_id AS id, w.bucket FROM ${from} WHERE ${where}`)
    .join(' UNION ALL '),
};

const STATUS_IF_HELD = `CASE WHEN e.status IN ${ACTIVE} AND (e.id, e.fence) IN (SELECT id, fence FROM held) THEN 'running' ELSE e.status END`;

/**
 * One page of executions. Steps that run or ended in place are listed with their parent, and those that run among what is running.
 */
export async function listExecutions(db: Runner, filter: ExecutionFilter = {}): Promise<ExecutionPage> {
  const limit = filter.limit ?? 50;
  const statuses: ExecutionStatus[] =
    filter.status === undefined ? [] : typeof filter.status === 'string' ? [filter.status] : [...filter.status];
  const values: unknown[] = [];
  const conditions: string[] = [];
  const add = (value: unknown) => `$${values.push(value)}`;
  const where = (condition: (parameter: string) => string, value: unknown) => {
    conditions.push(condition(add(value)));
  };

  if (filter.type) where((p) => `e.type = ${p}`, filter.type);
  if (filter.name) where((p) => `e.target_name = ${p}`, filter.name);
  if (filter.queue) where((p) => `e.queue = ${p}`, filter.queue);
  if (filter.tag) where((p) => `${p} = ANY(e.tags)`, filter.tag);
  if (filter.createdAfter) where((p) => `e.created_at >= ${p}`, filter.createdAfter);
  if (filter.createdBefore) where((p) => `e.created_at < ${p}`, filter.createdBefore);
  if (filter.parentId === null) conditions.push('e.parent_id IS NULL');
  const { parentId, waitsFor } = filter;
  const isOfParent = typeof parentId === 'string';
  if (isOfParent && waitsFor) conditions.push(isWaitingFor(waitsFor, add));
  if (filter.cursor) {
    const [time, id] = decodeCursor(filter.cursor);
    values.push(time, id);
    conditions.push(`(e.created_at, e.id) < ($${values.length - 1}::timestamptz, $${values.length})`);
  }
  if (!isOfParent && (waitsFor || (statuses.length === 1 && statuses[0] === 'suspended'))) {
    return listWaiting(db, { ...filter, limit }, statuses, values, conditions);
  }
  if (statuses.length > 0) {
    where((p) => `${STATUS} = ANY(${p})`, statuses);
  }
  const from = isOfParent ? childrenOf(parentId, values) : rowsIn(statuses);
  values.push(limit + 1);
  const columns = `${RECORD}, ${exactText('e.created_at')} AS cursor_time`;
  const filtered = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const order = 'ORDER BY e.created_at DESC, e.id DESC';
  // Only a filter by status needs the holders before the page is known.
  const text =
    statuses.length > 0
      ? `SELECT ${columns} FROM ${from} ${WITH_HOLDER} ${filtered} ${order} LIMIT $${values.length}`
      : `WITH page AS MATERIALIZED (SELECT e.* FROM ${from} ${filtered} ${order} LIMIT $${values.length})
        SELECT ${columns} FROM page e ${WITH_HOLDER_OF_PAGE} ${order}`;

  return pageOf(await db.rows<ListedRow>(sql('list_executions', text), values), limit);
}

type ListedRow = ExecutionRecord & { cursor_time: string };

function pageOf(rows: readonly ListedRow[], limit: number): ExecutionPage {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(({ cursor_time: _, ...record }) => record),
    ...(rows.length > limit && last ? { next: encodeCursor(last.cursor_time, last.id) } : {}),
  };
}

// The holders are looked up in a hash table, and each execution by its key, in the order of its source: a page of a million reads as many
// rows as a page of a hundred. Each source has all filters and the limit; as one union it would be read whole and sorted.
async function listWaiting(
  db: Runner,
  filter: ExecutionFilter & { limit: number },
  statuses: readonly ExecutionStatus[],
  values: unknown[],
  conditions: readonly string[],
): Promise<ExecutionPage> {
  const add = (value: unknown) => `$${values.push(value)}`;
  const ranges: string[] = [];
  if (filter.name) ranges.push(`w.workflow = ${add(waitName(filter.name))}`);
  if (filter.createdAfter) ranges.push(`w.created_at >= ${add(filter.createdAfter)}`);
  if (filter.createdBefore) ranges.push(`w.created_at < ${add(filter.createdBefore)}`);
  if (filter.cursor) {
    const [time, id] = decodeCursor(filter.cursor);
    ranges.push(`(w.created_at, w.execution_id) < (${add(time)}::timestamptz, ${add(id)})`);
  }
  const range = ranges.map((each) => ` AND ${each}`).join('');
  const sources = filter.waitsFor ? [waitingFor(filter.waitsFor, range, add)] : allSuspended(range);
  const filters = statuses.length === 0 ? conditions : [...conditions, `${STATUS_IF_HELD} = ANY(${add(statuses)})`];
  const most = add(filter.limit + 1);
  const pages = sources.map(
    ({
      from,
      where,
    }) => `(SELECT e.* FROM ${from}, LATERAL (SELECT * FROM rhythm.executions x WHERE x.id = w.execution_id AND x.bucket = w.bucket OFFSET 0) e
      WHERE ${[where, ...filters].join(' AND ')} ORDER BY w.created_at DESC, w.execution_id DESC LIMIT ${most})`,
  );
  const text = `WITH held AS MATERIALIZED (
      SELECT i.id, i.fence FROM rhythm.claims c, unnest(c.ids, c.fences) AS i(id, fence) WHERE i.fence <> ${NO_FENCE}
    ), page AS MATERIALIZED (
      SELECT * FROM (${pages.join(' UNION ALL ')}) e ORDER BY e.created_at DESC, e.id DESC LIMIT ${most}
    )
    SELECT ${RECORD}, ${exactText('e.created_at')} AS cursor_time FROM page e ${WITH_HOLDER_OF_PAGE} ORDER BY e.created_at DESC, e.id DESC`;
  return pageOf(await db.rows<ListedRow>(sql('list_waiting', text), values), filter.limit);
}

// What may be in these statuses: from the sources of each, or else everything.
function rowsIn(statuses: readonly ExecutionStatus[]): string {
  const sources = statuses.map((status) => SOURCES[status]);
  const isKnown = sources.length > 0 && sources.every((source) => source !== undefined);
  const ids = `(${sources.map((source) => `(${source})`).join(' UNION ')}) s JOIN rhythm.executions e ON e.id = s.id AND e.bucket = s.bucket`;
  const from = isKnown ? ids : 'rhythm.executions e';
  return statuses.includes('running') ? rowsNamed('e', ownRows(from), pendingStepRows(RUNS_WITH_STEPS)) : from;
}

function childrenOf(parentId: string, values: unknown[]): string {
  values.push(parentId, bucketOf(parentId));
  const [id, bucket] = [`$${values.length - 1}::text`, `$${values.length}::smallint`];
  return rowsNamed(
    'e',
    ownRows(
      `rhythm.executions e WHERE (e.bucket = ${bucket} AND ${isBelow('e.id', id)} AND e.parent_id = ${id}) OR (${isChildWithOwnId('e.', id)})`,
    ),
    endedStepRows(`rhythm.steps s WHERE s.execution_id = ${id} AND s.bucket = ${bucket}`),
    pendingStepRows('rhythm.executions r', `r.id = ${id} AND r.bucket = ${bucket}`),
  );
}

// Microseconds of the database, which a JavaScript date would cut off.
function encodeCursor(time: string, id: string): string {
  return Buffer.from(JSON.stringify([time, id])).toString('base64url');
}

// As `exactText` writes it; years of five digits and dates before Christ are none of ours.
const CURSOR_TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;

function decodeCursor(cursor: string): [string, string] {
  try {
    const [time, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof time === 'string' && CURSOR_TIME.test(time) && typeof id === 'string' && id.length <= 4_096 && !id.includes('\0'))
      return [time, id];
  } catch {
    // Reported below, together with a string that parses but is not a cursor.
  }
  throw new RangeError('The cursor is not one that list() returned. Pass the `next` of the page before, unchanged.');
}
