// Children that turns start, as a part of a commit: queued, scheduled for later, or claimed at once by the same worker.

import { CLOCK_NOW } from '../clock.js';
import { childId } from '../ids.js';
import { inputHash } from '../input-hash.js';
import {
  DUE_AFTER_DELAY,
  EXECUTION_COLUMNS,
  EXECUTION_VALUES,
  executionColumns,
  NAMED_COLUMN,
  type NewExecution,
  schedule,
} from '../new-execution.js';
import { HAS_NO_TOMBSTONE } from '../tombstones.js';
import { enqueue } from '../work-queue.js';
import type { Columns, CommitBuilder } from './commit-builder.js';
import { addTakenIds } from './taken-ids.js';
import type { TurnCommit } from './turn-commit.js';
import { each, type Owned } from './turn-items.js';

/** Children that the worker runs at once: they are inserted already claimed, without a row in the queue. */
export interface ImmediateClaim {
  claimId: string;
  /** Ids of the children. */
  ids: readonly string[];
}

/** Starts children: executions with their queue rows or due times. Those that are claimed at once have a claim instead of a queue row. */
export function addChildren(
  commit: CommitBuilder,
  workerId: string,
  fence: number,
  turns: readonly TurnCommit[],
  immediate?: ImmediateClaim,
): void {
  const children = each(turns, (turn) => turn.children);
  const chosen = new Set(immediate?.ids);
  const atOnce = children.filter(({ item }) => chosen.has(item.id));
  const queued = chosen.size === 0 ? children : children.filter(({ item }) => !chosen.has(item.id));
  if (queued.length > 0) {
    // The number of a call is used once, so only an id that the flow chose can exist already.
    const named = queued.filter(({ turn, item }) => hasOwnId(turn, item));
    const timed = hasTimes(queued);
    const hasNamed = named.length > 0;
    commit.add(
      `${hasNamed ? 'named-' : ''}children${timed ? '-timed' : ''}`,
      hasNamed ? [...columnsOf(commit, queued), ['text', hashesOf(queued)]] : columnsOf(commit, queued),
      (unnest, first) =>
        `${insertChildren(commit, 'started', unnest, first, { named: hasNamed, timed, queued: true })}, queued AS (
      ${enqueue(`started WHERE due_at IS NULL ${hasNamed ? `AND (SELECT rhythm.refuse_removed(array_agg(s.id), array_agg(s.bucket)) FROM started s)` : ''}`, first)}
    )`,
      [['bigint', fence]],
    );
    addTakenIds(commit, named);
  }
  if (!immediate || atOnce.length === 0) return;
  const timed = hasTimes(atOnce);
  commit.add(
    `immediate-children${timed ? '-timed' : ''}`,
    columnsOf(commit, atOnce),
    (unnest, worker, claim, first) =>
      `${insertChildren(commit, 'started_at_once', unnest, first, { named: false, timed, queued: false })}, claimed_at_once AS (
      INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences)
      SELECT ${worker}, ${claim}, array_agg(id), array_agg(bucket), array_agg(${first}) FROM started_at_once HAVING count(*) > 0
    )`,
    [
      ['text', workerId],
      ['text', immediate.claimId],
      ['bigint', fence],
    ],
  );
}

function columnsOf(commit: CommitBuilder, children: readonly Owned<NewExecution>[]): Columns {
  const [id, bucket, type, name, queue, priority, parent, call, version, inputs, verbatim, tags, options] = executionColumns(
    children.map(({ item }) => item),
  );
  return [
    commit.numbers(children.map(({ n }) => n)),
    ['text', id],
    ['smallint', bucket],
    ['text', type, 'task'],
    ['text', name],
    ['text', queue],
    ['smallint', priority, 0],
    ['text', parent],
    ['integer', call],
    ['text', version, null],
    ['text', inputs],
    ['text', verbatim, null],
    ['text', tags, null],
    ['text', options, null],
  ];
}

// Of a child whose id the flow chose; no other leaves a tombstone.
function hashesOf(children: readonly Owned<NewExecution>[]): (string | null)[] {
  return children.map(({ turn, item }) => (hasOwnId(turn, item) ? inputHash(item.input) : null));
}

// Most children have no times, and then the statement contains nothing about them.
function hasTimes(children: readonly Owned<NewExecution>[]): boolean {
  return children.some(
    ({ item: { options } }) =>
      options !== undefined &&
      (options.delayMs !== undefined || options.totalTimeoutMs !== undefined || options.startTimeoutMs !== undefined),
  );
}

// Each has a time of its own, in the order of the calls: lists are read by the index on time, and children of the same time (a turn may
// start 10,000) would have to be sorted for each page.
// `name` is that of the CTE, whose rows have what the queue and the schedule need.
function insertChildren(
  commit: CommitBuilder,
  name: 'started' | 'started_at_once',
  unnest: string,
  fence: string,
  { named, timed, queued }: { named: boolean; timed: boolean; queued: boolean },
): string {
  const rest = `, type, queue, priority, options, parent_call,
        CASE ${DUE_AFTER_DELAY} END AS due_at`;
  const inserted = `${name} AS (
      INSERT INTO rhythm.executions (fence, created_at, ${EXECUTION_COLUMNS}${named ? `, ${NAMED_COLUMN}` : ''})
      SELECT ${fence}, ${CLOCK_NOW}, ${EXECUTION_VALUES}${named ? `, d.${NAMED_COLUMN}` : ''}
      FROM ${unnest} AS d(n, ${EXECUTION_COLUMNS}${named ? `, ${NAMED_COLUMN}` : ''})
      WHERE ${commit.ofWinner}
      ${named ? `AND ${HAS_NO_TOMBSTONE} ON CONFLICT (id, bucket) DO NOTHING` : ''}
      RETURNING id, bucket${queued || timed ? rest : ''}
    )`;
  return timed ? `${inserted}, ${name}_scheduled AS (${schedule(name, fence)})` : inserted;
}

function hasOwnId(turn: TurnCommit, child: NewExecution): boolean {
  return !child.fresh && (child.parentCall === undefined || child.id !== childId(turn.id, child.parentCall));
}
