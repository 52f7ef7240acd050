// Lists executions, newest first, page by page.

import { type ExecutionRecord, type ExecutionStatus, HELD, RECORD, WITH_HOLDER, WITH_HOLDER_OF_PAGE } from './read-execution.js';
import { type Runner, sql } from './statement.js';

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
  limit?: number;
  /** What the last page answered as `next`. */
  cursor?: string;
}

export interface ExecutionPage {
  items: ExecutionRecord[];
  /** Hand it in as `cursor` for the next page; absent on the last one. */
  next?: string;
}

// No index of `executions` knows the status (completion would not be HOT any more), so each status has its own source:
// the small tables that hold exactly those rows, or the index on time when most rows are meant anyway.
const SOURCES: Partial<Record<ExecutionStatus, string>> = {
  failed: `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = 'failed'`,
  cancelled: `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = 'cancelled'`,
  paused: `SELECT execution_id AS id, bucket FROM rhythm.marked_executions WHERE status = 'paused'`,
  running: `SELECT id, bucket FROM (${HELD}) held`,
  pending: `SELECT execution_id AS id, bucket FROM rhythm.work_queue UNION SELECT execution_id, bucket FROM rhythm.scheduled_queue WHERE kind = 'run'`,
  suspended: `SELECT execution_id AS id, bucket FROM rhythm.workflow_execution_context UNION SELECT execution_id, bucket FROM rhythm.completion_tokens`,
};

/** One page of executions. */
export async function listExecutions(db: Runner, filter: ExecutionFilter = {}): Promise<ExecutionPage> {
  const limit = filter.limit ?? 50;
  const statuses: ExecutionStatus[] =
    filter.status === undefined ? [] : typeof filter.status === 'string' ? [filter.status] : [...filter.status];
  const values: unknown[] = [];
  const conditions: string[] = [];
  const where = (condition: (parameter: string) => string, value: unknown) => {
    values.push(value);
    conditions.push(condition(`$${values.length}`));
  };

  if (filter.type) where((p) => `e.type = ${p}`, filter.type);
  if (filter.name) where((p) => `e.target_name = ${p}`, filter.name);
  if (filter.queue) where((p) => `e.queue = ${p}`, filter.queue);
  if (filter.tag) where((p) => `${p} = ANY(e.tags)`, filter.tag);
  if (filter.createdAfter) where((p) => `e.created_at >= ${p}`, filter.createdAfter);
  if (filter.createdBefore) where((p) => `e.created_at < ${p}`, filter.createdBefore);
  if (filter.parentId === null) conditions.push('e.parent_id IS NULL');
  else if (filter.parentId !== undefined) {
    where(
      (p) =>
        `((e.id > ${p} || ':' AND e.id < ${p} || ';' AND e.parent_id = ${p}) OR (e.parent_id = ${p} AND e.parent_id IS NOT NULL AND NOT starts_with(e.id, e.parent_id || ':')))`,
      filter.parentId,
    );
  }
  if (filter.cursor) {
    const [time, id] = decodeCursor(filter.cursor);
    values.push(time, id);
    conditions.push(`(e.created_at, e.id) < ($${values.length - 1}::timestamptz, $${values.length})`);
  }
  if (statuses.length > 0) {
    const derived = `CASE WHEN h.worker_id IS NOT NULL AND e.status IN ('pending', 'suspended') THEN 'running' ELSE e.status END`;
    where((p) => `${derived} = ANY(${p})`, statuses);
  }
  const sources = statuses.map((status) => SOURCES[status]);
  const from =
    sources.length > 0 && sources.every((source) => source !== undefined)
      ? `(${sources.map((source) => `(${source})`).join(' UNION ')}) s JOIN rhythm.executions e ON e.id = s.id AND e.bucket = s.bucket`
      : 'rhythm.executions e';
  values.push(limit + 1);
  const columns = `${RECORD}, to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ') AS cursor_time`;
  const filtered = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const order = 'ORDER BY e.created_at DESC, e.id DESC';
  // Only a status asks who holds what before the page is known.
  const text =
    statuses.length > 0
      ? `SELECT ${columns} FROM ${from} ${WITH_HOLDER} ${filtered} ${order} LIMIT $${values.length}`
      : `WITH page AS MATERIALIZED (SELECT e.* FROM rhythm.executions e ${filtered} ${order} LIMIT $${values.length})
        SELECT ${columns} FROM page e ${WITH_HOLDER_OF_PAGE} ${order}`;

  const rows = await db.rows<ExecutionRecord & { cursor_time: string }>(sql('list_executions', text), values);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(({ cursor_time: _, ...record }) => record),
    ...(rows.length > limit && last ? { next: encodeCursor(last.cursor_time, last.id) } : {}),
  };
}

// Microseconds of the database, which a JavaScript date would cut off.
function encodeCursor(time: string, id: string): string {
  return Buffer.from(JSON.stringify([time, id])).toString('base64url');
}

function decodeCursor(cursor: string): [string, string] {
  try {
    const [time, id] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (typeof time === 'string' && typeof id === 'string') return [time, id];
  } catch {
    // Told below, together with a text that parses but is not ours.
  }
  throw new RangeError('The cursor is not one that list() answered. Pass the `next` of the page before, unchanged.');
}
