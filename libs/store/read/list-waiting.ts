// Lists executions by what they wait for, newest first, page by page, from the rows of `waiting`.

import { exactText } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { ACTIVE } from '../ended.js';
import { NO_FENCE } from '../fence.js';
import { waitName } from '../waiting-rows.js';
import { decodeCursor, encodeCursor } from './list-cursor.js';
import type { ExecutionFilter, ExecutionPage } from './list-executions.js';
import { type ExecutionRecord, type ExecutionStatus, RECORD, WITH_HOLDER_OF_PAGE } from './read-execution.js';
import { allSuspended, waitingFor } from './waiting-source.js';

type Row = ExecutionRecord & { cursor_time: string };

const STATUS_IF_HELD = `CASE WHEN e.status IN ${ACTIVE} AND (e.id, e.fence) IN (SELECT id, fence FROM held) THEN 'running' ELSE e.status END`;

/**
 * One page of what waits, or of everything that is suspended if the filter does not say for what. The parent is none or any.
 */
// The holders are looked up in a hash table, and each execution by its key, in the order of its source: a page of a million reads as many
// rows as a page of a hundred. Each source has all filters and the limit; as one union it would be read whole and sorted.
export async function listWaiting(
  db: Runner,
  filter: ExecutionFilter & { limit: number },
  statuses: readonly ExecutionStatus[],
): Promise<ExecutionPage> {
  const values: unknown[] = [];
  const add = (value: unknown) => `$${values.push(value)}`;
  const filters: string[] = [];
  if (filter.type) filters.push(`e.type = ${add(filter.type)}`);
  if (filter.name) filters.push(`e.target_name = ${add(filter.name)}`);
  if (filter.queue) filters.push(`e.queue = ${add(filter.queue)}`);
  if (filter.tag) filters.push(`${add(filter.tag)} = ANY(e.tags)`);
  if (filter.parentId === null) filters.push('e.parent_id IS NULL');
  if (statuses.length > 0) filters.push(`${STATUS_IF_HELD} = ANY(${add(statuses)})`);
  const ranges: string[] = [];
  if (filter.name) ranges.push(`w.workflow = ${add(waitName(filter.name))}`);
  if (filter.createdAfter) ranges.push(`w.created_at >= ${add(filter.createdAfter)}`);
  if (filter.createdBefore) ranges.push(`w.created_at < ${add(filter.createdBefore)}`);
  if (filter.cursor) {
    const { time, id } = decodeCursor(filter.cursor);
    ranges.push(`(w.created_at, w.execution_id) < (${add(time)}::timestamptz, ${add(id)})`);
  }
  const range = ranges.map((each) => ` AND ${each}`).join('');
  const sources = filter.waitsFor ? [waitingFor(filter.waitsFor, range, add)] : allSuspended(range);
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
  const rows = await db.rows<Row>(sql('list_waiting', text), values);
  const page = rows.slice(0, filter.limit);
  const last = page.at(-1);
  return {
    items: page.map(({ cursor_time: _, ...record }) => record),
    ...(rows.length > filter.limit && last ? { next: encodeCursor({ time: last.cursor_time, call: 0, id: last.id }) } : {}),
  };
}
