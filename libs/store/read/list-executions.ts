// Lists executions, newest first, page by page.

import { exactText } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE } from '../ended.js';
import { bucketOf } from '../ids.js';
import { isBelow, isChildWithOwnId } from '../relatives.js';
import { IS_RUN } from '../run/scheduled-kinds.js';
import { COLUMNS, endedStepRows, ownRows, pendingStepRows, RUNS_WITH_STEPS, rowsNamed } from './execution-rows.js';
import { decodeCursor, encodeCursor } from './list-cursor.js';
import { listWaiting } from './list-waiting.js';
import { type ExecutionRecord, type ExecutionStatus, HELD, RECORD, WITH_HOLDER_OF_PAGE } from './read-execution.js';
import { isWaitingFor, type WaitingFilter } from './waiting-source.js';

/** What to list; absent means any. */
export interface ExecutionFilter {
  status?: ExecutionStatus | readonly ExecutionStatus[];
  type?: 'task' | 'workflow';
  /** Without `type`: if there are workflows of this name, those, otherwise tasks. */
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
  /** Pass it as `cursor` for the next page; absent on the last one. A page before the last may have fewer items than the limit, or none. */
  next?: string;
}

// No index of `executions` contains the status (completion would no longer be a HOT update), so some statuses have sources of their own:
// the small tables that hold exactly those rows. Each is read only while it has few rows. `suspended` has `listWaiting`.
// In the order of an index, so that the first few are found without reading the rest.
const marked = (status: string) =>
  `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = '${status}' ORDER BY marked_at`;
const SOURCES: Partial<Record<ExecutionStatus, readonly string[]>> = {
  failed: [marked('failed')],
  cancelled: [marked('cancelled')],
  paused: [marked('paused')],
  running: [`SELECT id, bucket FROM (${HELD}) held`],
  pending: [
    'SELECT execution_id AS id, bucket FROM rhythm.work_queue ORDER BY queue, lane, rank, seq',
    `SELECT s.execution_id AS id, s.bucket FROM rhythm.scheduled_queue s WHERE ${IS_RUN} ORDER BY s.due_at`,
  ],
};
const FEW = 2_000;

// Everything else is read in the order of time, newest first, and no request reads more than this. A page that ends there has fewer
// items, or none, and a cursor that goes on where it ended.
const MOST_READ = 10_000;

// Children that a turn starts may have the same time: then the later call comes first, as in time. The expression is that of `Place.call`.
const CALL = 'coalesce(e.parent_call, 0)';
const ORDER = `ORDER BY e.created_at DESC, ${CALL} DESC, e.id DESC`;

// An execution is held if a claim names its fence. As a subquery without a reference to the row it is hashed once, and rows keep their
// order, which a join does not promise: with a join all rows that may be read would be sorted for each page.
const SEEN_STATUS = `CASE WHEN e.status IN ${ACTIVE} AND (e.id, e.fence) IN (SELECT held.id, held.fence FROM (${HELD}) held) THEN 'running' ELSE e.status END`;

type Row = ExecutionRecord & { time: string; call: number; readTime: string | null; readCall: number | null; readId: string | null };

/**
 * One page of executions. Steps that run or ended in place are listed with their parent, and those that run among what is running.
 * No request reads more than a bounded number of rows: a page may have fewer items than its limit, or none, and a `next`.
 */
export async function listExecutions(db: Runner, filter: ExecutionFilter = {}): Promise<ExecutionPage> {
  const limit = filter.limit ?? 50;
  const statuses: ExecutionStatus[] =
    filter.status === undefined ? [] : typeof filter.status === 'string' ? [filter.status] : [...filter.status];
  const { parentId, waitsFor } = filter;
  const isOfParent = typeof parentId === 'string';
  // What is suspended or waits for something is in a table of its own, in the order of the list.
  if (!isOfParent && (waitsFor || (statuses.length === 1 && statuses[0] === 'suspended')))
    return listWaiting(db, { ...filter, limit }, statuses);
  const values: unknown[] = [limit + 1];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const type = filter.type ?? (filter.name !== undefined && (await isWorkflow(db, filter.name)) ? 'workflow' : undefined);

  // What an index finds, and what is then looked at in each row.
  const found: string[] = [];
  const kept: string[] = [];
  if (type) (type === 'workflow' && filter.name ? found : kept).push(`e.type = '${type}'`);
  if (filter.name) (type === 'workflow' ? found : kept).push(`e.target_name = ${parameter(filter.name)}`);
  const isRareTag = filter.tag !== undefined && (await isRare(db, filter.tag));
  const tagged = filter.tag && `tags @> ARRAY[${parameter(filter.tag)}::text]`;
  if (tagged) kept.push(`e.${tagged}`);
  // Apart, or the planner may read in the order of time until it meets enough of a tag that few have.
  const table = tagged && isRareTag ? `(SELECT * FROM rhythm.executions WHERE ${tagged} OFFSET 0)` : 'rhythm.executions';
  if (filter.createdAfter) found.push(`e.created_at >= ${parameter(filter.createdAfter)}`);
  if (filter.createdBefore) found.push(`e.created_at < ${parameter(filter.createdBefore)}`);
  if (filter.queue) kept.push(`e.queue = ${parameter(filter.queue)}`);
  if (parentId === null) kept.push('e.parent_id IS NULL');
  if (waitsFor) kept.push(isWaitingFor(waitsFor, parameter));
  if (statuses.length > 0) kept.push(`${SEEN_STATUS} = ANY(${parameter(statuses)})`);
  if (filter.cursor) {
    const { time, call, id } = decodeCursor(filter.cursor);
    const at = `${parameter(time)}::timestamptz`;
    found.push(`e.created_at <= ${at} AND (e.created_at, ${CALL}, e.id) < (${at}, ${parameter(call)}::integer, ${parameter(id)})`);
  }
  const where = (...conditions: string[]) => (conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '');

  const few = isOfParent ? childrenOf(parentId, parameter) : (await hasFew(db, statuses)) ? rowsOf(statuses) : undefined;
  const steps = few === undefined && statuses.includes('running') ? rowsNamed('e', pendingStepRows(RUNS_WITH_STEPS)) : undefined;
  const text = few
    ? `WITH page AS MATERIALIZED (SELECT e.* FROM ${few} ${where(...found, ...kept)} ${ORDER} LIMIT $1)
      SELECT ${RECORD}, ${exactText('e.created_at')} AS time, ${CALL} AS call, NULL AS "readTime", NULL AS "readCall", NULL AS "readId"
      FROM page e ${WITH_HOLDER_OF_PAGE} ${ORDER}`
    : scan(table, where(...found), where(...kept), steps && where(...found, ...kept), steps);
  const rows = await db.rows<Row>(sql('list_executions', text), values);
  return pageOf(rows, limit);
}

// The executions that may be read, in order, one by one until the page is full. If they end before, the last of them is where the next
// page begins; it is not looked for otherwise (a limit of no rows reads none). Steps in place are few; those beyond that place belong to a later page.
function scan(table: string, found: string, kept: string, keptSteps: string | undefined, steps: string | undefined): string {
  const readable = `SELECT * FROM ${table} e ${found} ${ORDER}`;
  const own = `SELECT e.* FROM (SELECT ${COLUMNS} FROM (${readable} LIMIT ${MOST_READ}) r) e ${kept} LIMIT $1`;
  const last = (rows: string) =>
    `SELECT e.created_at, ${CALL} AS call, e.id FROM ${table} e ${found} ${ORDER} OFFSET ${MOST_READ - 1} LIMIT ${rows}`;
  const all = steps
    ? `SELECT e.* FROM (SELECT * FROM (${own}) o UNION ALL (SELECT * FROM ${steps} ${keptSteps}
        AND NOT EXISTS (SELECT 1 FROM (${last('1')}) l WHERE (e.created_at, ${CALL}, e.id) < (l.created_at, l.call, l.id)))) e ${ORDER} LIMIT $1`
    : own;
  return `WITH page AS MATERIALIZED (${all})
    SELECT p.*, ${exactText('l.created_at')} AS "readTime", l.call AS "readCall", l.id AS "readId"
    FROM (SELECT 1) one
    LEFT JOIN (${last('(SELECT CASE WHEN count(*) < $1 THEN 1 ELSE 0 END FROM page)')}) l ON true
    LEFT JOIN (SELECT ${RECORD}, ${exactText('e.created_at')} AS time, ${CALL} AS call FROM page e ${WITH_HOLDER_OF_PAGE}) p ON true
    ORDER BY p."createdAt" DESC, p.time DESC, p.call DESC, p.id DESC`;
}

function pageOf(rows: readonly Row[], limit: number): ExecutionPage {
  const found = rows.filter(({ id }) => id !== null);
  const items = found.slice(0, limit).map(({ time: _t, call: _c, readTime: _rt, readCall: _rc, readId: _ri, ...record }) => record);
  const last = found[limit - 1];
  if (found.length > limit && last) return { items, next: encodeCursor(last) };
  const [read] = rows;
  if (read === undefined || read.readTime === null) return { items };
  return { items, next: encodeCursor({ time: read.readTime, call: read.readCall as number, id: read.readId as string }) };
}

const IS_WORKFLOW = sql('is_workflow', `SELECT 1 FROM rhythm.executions e WHERE e.type = 'workflow' AND e.target_name = $1 LIMIT 1`);

// Workflows have an index by name. Tasks have none: it would cost 76 bytes of WAL per start (563 → 639).
async function isWorkflow(db: Runner, name: string): Promise<boolean> {
  return (await db.rows(IS_WORKFLOW, [name])).length > 0;
}

const TAGGED = sql('estimate_tagged', 'EXPLAIN (FORMAT JSON) SELECT 1 FROM rhythm.executions e WHERE e.tags @> ARRAY[$1::text]');

// The index by tag finds all rows of a tag at once. For a common tag the planner's statistics say so, and then its rows are soon met
// in the order of time.
async function isRare(db: Runner, tag: string): Promise<boolean> {
  const [row] = await db.rows<{ 'QUERY PLAN': [{ Plan: { 'Plan Rows': number } }] }>(TAGGED, [tag]);
  return row['QUERY PLAN'][0].Plan['Plan Rows'] <= MOST_READ;
}

// Whether all of these statuses have sources, and they have few rows.
async function hasFew(db: Runner, statuses: readonly ExecutionStatus[]): Promise<boolean> {
  if (statuses.length === 0 || statuses.some((status) => SOURCES[status] === undefined)) return false;
  const some = sourcesOf(statuses).map((source) => `SELECT count(*) AS n FROM (${source} LIMIT ${FEW + 1}) s`);
  const [{ n }] = await db.rows<{ n: number }>(sql('count_sources', `SELECT sum(n)::integer AS n FROM (${some.join(' UNION ALL ')}) c`));
  return n <= FEW;
}

const sourcesOf = (statuses: readonly ExecutionStatus[]) => statuses.flatMap((status) => SOURCES[status] ?? []);

// Looked up by the key, one by one: there are few.
function rowsOf(statuses: readonly ExecutionStatus[]): string {
  const ids = `((${sourcesOf(statuses).join(') UNION (')})) s, LATERAL (SELECT * FROM rhythm.executions x WHERE x.id = s.id AND x.bucket = s.bucket OFFSET 0) e`;
  return rowsNamed('e', ownRows(ids), ...(statuses.includes('running') ? [pendingStepRows(RUNS_WITH_STEPS)] : []));
}

function childrenOf(parentId: string, parameter: (value: unknown) => string): string {
  const [id, bucket] = [`${parameter(parentId)}::text`, `${parameter(bucketOf(parentId))}::smallint`];
  return rowsNamed(
    'e',
    ownRows(`rhythm.executions e WHERE e.bucket = ${bucket} AND ${isBelow('e.id', id)} AND e.parent_id = ${id}`),
    ownRows(`rhythm.executions e WHERE ${isChildWithOwnId('e.', id)}`),
    endedStepRows(`rhythm.steps s WHERE s.execution_id = ${id} AND s.bucket = ${bucket}`),
    pendingStepRows('rhythm.executions r', `r.id = ${id} AND r.bucket = ${bucket}`),
  );
}
