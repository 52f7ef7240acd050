// What turns asked for, as parts of a commit: children, timers, withdrawals, cancellations, groups, log lines.

import { bucketOf, childId } from '../ids.js';
import { executionColumns, type NewExecution } from '../insert-executions.js';
import { readable } from '../json-columns.js';
import type { Columns, CommitBuilder } from './commit-builder.js';
import type { TurnCommit } from './turn-commit.js';

// More groups than that wake their run for every member: correct, only less frugal.
const MOST_GROUPS = 1_000;

type Owned<T> = { turn: TurnCommit; n: number; item: T };

function each<T>(turns: readonly TurnCommit[], pick: (turn: TurnCommit) => readonly T[]): Owned<T>[] {
  return turns.flatMap((turn, n) => pick(turn).map((item) => ({ turn, n, item })));
}

const owner = (commit: CommitBuilder, items: readonly Owned<unknown>[]) =>
  [
    commit.numbers(items.map(({ n }) => n)),
    ['text', items.map(({ turn }) => turn.id)],
    ['smallint', items.map(({ turn }) => turn.bucket)],
  ] as const;

/** Children that their own worker takes at once: they are born claimed, without a row in the queue. */
export interface ImmediateClaim {
  claimId: string;
  /** Ids of the children. */
  ids: readonly string[];
}

/** Starts children: executions with their queue rows or due times. Those that are taken at once have a claim instead of a queue row. */
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
    // The number of a call is used once, so only an id of the flow's own choice can be taken already.
    const named = queued.some(({ turn, item }) => hasOwnId(turn, item));
    commit.add(
      `${named ? 'named-' : ''}children${timed(queued)}`,
      columnsOf(commit, queued),
      (unnest, first) => `${born(commit, 'born', unnest, first, named, timed(queued) !== '')}, queued AS (
      INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
      SELECT queue, -priority, nextval('rhythm.queue_seq'), bucket, id, CASE WHEN type = 'task' THEN ${first} END FROM born WHERE due_at IS NULL
    )`,
      [['bigint', fence]],
    );
    addRefused(commit, queued);
  }
  if (!immediate || atOnce.length === 0) return;
  commit.add(
    `immediate-children${timed(atOnce)}`,
    columnsOf(commit, atOnce),
    (unnest, worker, claim, first) => `${born(commit, 'born_claimed', unnest, first, false, timed(atOnce) !== '')}, taken_at_once AS (
      INSERT INTO rhythm.claims (worker_id, claim_id, ids, buckets, fences)
      SELECT ${worker}, ${claim}, array_agg(id), array_agg(bucket), array_agg(${first}) FROM born_claimed HAVING count(*) > 0
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

// Whether any of the children has a time: most have none, and then the statement says nothing about it.
function timed(children: readonly Owned<NewExecution>[]): '' | '-timed' {
  const has = ({ item: { options } }: Owned<NewExecution>) =>
    options !== undefined &&
    (options.delayMs !== undefined || options.totalTimeoutMs !== undefined || options.startTimeoutMs !== undefined);
  return children.some(has) ? '-timed' : '';
}

function born(
  commit: CommitBuilder,
  name: 'born' | 'born_claimed',
  unnest: string,
  fence: string,
  named: boolean,
  scheduled: boolean,
): string {
  const atOnce = name === 'born_claimed';
  const after = (option: string) => `coalesce(due_at, statement_timestamp()) + (options->>'${option}')::float8 * interval '1 millisecond'`;
  return `${name} AS (
      INSERT INTO rhythm.executions (fence, id, bucket, type, target_name, queue, priority, parent_id, parent_call, version, inputs, inputs_verbatim, tags, options)
      SELECT ${fence}, d.id, d.bucket, d.type, d.target_name, d.queue, d.priority, d.parent_id, d.parent_call, d.version,
        d.inputs::json, d.verbatim::json, d.tags::text[], d.options::jsonb
      FROM ${unnest} AS d(n, id, bucket, type, target_name, queue, priority, parent_id, parent_call, version, inputs, verbatim, tags, options)
      WHERE ${commit.ofWinner}
      ${named ? 'ON CONFLICT (id, bucket) DO NOTHING' : ''}
      RETURNING id, bucket${
        atOnce && !scheduled
          ? ''
          : `, type, queue, priority, options, parent_call,
        CASE WHEN options ? 'delayMs' THEN statement_timestamp() + (options->>'delayMs')::float8 * interval '1 millisecond' END AS due_at`
      }
    )${
      scheduled
        ? `, ${name}_scheduled AS (
      INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at, fence)
      SELECT id, bucket, 'run', 0, due_at, CASE WHEN type = 'task' THEN ${fence} END FROM ${name} WHERE due_at IS NOT NULL
      UNION ALL
      SELECT id, bucket, 'deadline', 0, ${after('totalTimeoutMs')}, NULL FROM ${name} WHERE options ? 'totalTimeoutMs'
      UNION ALL
      SELECT id, bucket, 'start', 0, ${after('startTimeoutMs')}, NULL FROM ${name} WHERE options ? 'startTimeoutMs'
    )`
        : ''
    }`;
}

// A child with an id of the flow's own choice may find it taken. Its caller is told, in the same commit, or it would wait for ever.
// If an earlier turn of the same run started it and failed (its call is negative), the turn that is run again takes it over:
// it is re-pointed to the new call, or answers it at once when it has ended. The update sees the newest row, and so does the
// end of a child (`addTurns` tells the call that is in the row), so one of them always answers.
function addRefused(commit: CommitBuilder, children: readonly Owned<NewExecution>[]): void {
  const named = children.filter(({ turn, item }) => item.parentCall !== undefined && hasOwnId(turn, item));
  if (named.length === 0) return;
  const taken = (id: string) =>
    JSON.stringify({
      name: 'WorkflowError',
      code: 'RHYTHM_CONFLICT',
      message: `An execution with the id "${id}" exists already. Choose another id for this call.`,
    });
  commit.add(
    'refused',
    [
      ...owner(commit, named),
      ['text', named.map(({ item }) => item.id)],
      ['smallint', named.map(({ item }) => bucketOf(item.id))],
      ['text', named.map(({ item }) => item.targetName)],
      ['integer', named.map(({ item }) => item.parentCall as number)],
      ['text', named.map(({ item }) => taken(item.id))],
    ],
    (unnest) => `taken_ids AS MATERIALIZED (
      SELECT d.* FROM ${unnest} AS d(n, id, bucket, child, child_bucket, name, call, error)
      WHERE ${commit.ofWinner} AND NOT EXISTS (SELECT 1 FROM born b WHERE b.id = d.child AND b.parent_call = d.call)
    ), adopted AS (
      UPDATE rhythm.executions c SET parent_call = d.call FROM taken_ids d
      WHERE c.id = d.child AND c.bucket = d.child_bucket AND c.parent_id = d.id AND c.parent_call < 0 AND c.target_name = d.name
      RETURNING d.id, d.bucket, d.call, c.status,
        CASE WHEN c.status = 'completed' THEN coalesce(c.output_verbatim::text, c.output::text) ELSE c.error::text END AS payload
    ), refused AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT d.id, d.bucket, nextval('rhythm.event_seq'), 'failed', d.call, d.error::json FROM taken_ids d
      WHERE NOT EXISTS (SELECT 1 FROM adopted a WHERE a.id = d.id AND a.call = d.call)
      UNION ALL
      SELECT a.id, a.bucket, nextval('rhythm.event_seq'), CASE WHEN a.status = 'completed' THEN 'completed' ELSE 'failed' END, a.call, a.payload::json
      FROM adopted a WHERE a.status IN ('completed', 'failed', 'cancelled')
      RETURNING execution_id, bucket
    ), woken_refused AS (
      INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
      SELECT e.queue, -e.priority, nextval('rhythm.queue_seq'), e.bucket, e.id, NULL
      FROM refused r JOIN rhythm.executions e ON e.id = r.execution_id AND e.bucket = r.bucket
    )`,
  );
}

function hasOwnId(turn: TurnCommit, child: NewExecution): boolean {
  return child.parentCall === undefined || child.id !== childId(turn.id, child.parentCall);
}

/** Answers calls that nobody else will answer. */
export function addReplies(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const replies = each(turns, (turn) => turn.replies);
  if (replies.length === 0) return;
  commit.add(
    'replies',
    [
      ...owner(commit, replies),
      ['integer', replies.map(({ item }) => item.call)],
      ['text', replies.map(({ item }) => item.kind)],
      ['text', replies.map(({ item }) => item.payload)],
    ],
    (unnest) => `replied AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT d.id, d.bucket, nextval('rhythm.event_seq'), d.kind, d.call, d.payload::json FROM ${unnest} AS d(n, id, bucket, call, kind, payload) WHERE ${commit.ofWinner}
      RETURNING execution_id, bucket
    ), woken_replied AS (
      INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
      SELECT e.queue, -e.priority, nextval('rhythm.queue_seq'), e.bucket, e.id, NULL
      FROM (SELECT DISTINCT execution_id, bucket FROM replied) r JOIN rhythm.executions e ON e.id = r.execution_id AND e.bucket = r.bucket
    )`,
  );
}

/** Sets timers and timeouts; relative ones are dated by the database. */
export function addTimers(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const timers = each(turns, (turn) => turn.timers);
  if (timers.length === 0) return;
  commit.add(
    'timers',
    [
      ...owner(commit, timers),
      ['text', timers.map(({ item }) => item.kind)],
      ['bigint', timers.map(({ item }) => item.call)],
      ['float8', timers.map(({ item }) => item.delayMs ?? null)],
      ['float8', timers.map(({ item }) => item.at ?? null)],
    ],
    (unnest) => `timed AS (
      INSERT INTO rhythm.scheduled_queue (execution_id, bucket, kind, call, due_at)
      SELECT d.id, d.bucket, d.kind, d.call, coalesce(to_timestamp(d.at / 1000), statement_timestamp() + d.delay * interval '1 millisecond')
      FROM ${unnest} AS d(n, id, bucket, kind, call, delay, at) WHERE ${commit.ofWinner}
      ON CONFLICT (execution_id, bucket, kind, call) DO NOTHING
    )`,
  );
}

/** Forgets timers that nobody can observe any more. */
export function addWithdrawals(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const withdrawn = each(turns, (turn) => turn.withdrawn);
  if (withdrawn.length === 0) return;
  commit.add(
    'withdrawals',
    [...owner(commit, withdrawn), ['bigint', withdrawn.map(({ item }) => item)]],
    (unnest) => `withdrawn AS (
      DELETE FROM rhythm.scheduled_queue s USING ${unnest} AS d(n, id, bucket, call)
      WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.kind = ANY('{timer,timeout}'::text[]) AND s.call = d.call AND ${commit.ofWinner}
    )`,
  );
}

/** Cancels children: those the flow named, or all that live when the run itself is cancelled. */
export function addCancels(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const all = each(turns, (turn) => (turn.cascade ? [null] : []));
  const named = each<number | null>(turns, (turn) => turn.cancels);
  const cancels = [...all, ...named];
  if (cancels.length === 0) return;
  // The statement does not see the children that this very turn starts: they are its clean-up and live on.
  const LIVING = `c.parent_call IS NOT NULL AND c.status IN ('pending', 'suspended', 'paused') AND (d.call IS NULL OR c.parent_call = d.call)`;
  commit.add(
    'cancels',
    [...owner(commit, cancels), ['integer', cancels.map(({ item }) => item)]],
    (unnest) => `losing AS MATERIALIZED (
      SELECT d.id, d.bucket, d.call FROM ${unnest} AS d(n, id, bucket, call) WHERE ${commit.ofWinner}
    ), cancelled AS MATERIALIZED (
      SELECT c.id, c.bucket, c.queue, c.priority FROM losing d JOIN rhythm.executions c
        ON c.bucket = d.bucket AND c.id > d.id || ':' AND c.id < d.id || ';' AND c.parent_id = d.id AND ${LIVING}
      UNION ALL
      SELECT c.id, c.bucket, c.queue, c.priority FROM losing d JOIN rhythm.executions c
        ON c.parent_id = d.id AND c.parent_id IS NOT NULL AND NOT starts_with(c.id, c.parent_id || ':') AND ${LIVING}
    ), told_cancelled AS (
      INSERT INTO rhythm.inbox (execution_id, bucket, seq, kind, call, payload)
      SELECT id, bucket, nextval('rhythm.event_seq'), 'cancel', 0, '"the workflow that started it was cancelled"' FROM cancelled
    ), woken_cancelled AS (
      INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
      SELECT queue, -priority, nextval('rhythm.queue_seq'), bucket, id, NULL FROM cancelled
    )`,
  );
}

/**
 * Replaces the resume groups of the runs. A child may have counted an old group down since the run was loaded: its event is
 * stored, nobody was woken, and the new group waits for it. The deleted row tells (it is the newest one, locked here), and
 * the run is woken once more.
 */
export function addGroups(commit: CommitBuilder, fence: number, turns: readonly TurnCommit[]): void {
  const had = turns.map((turn, n) => ({ turn, n, item: turn.remaining })).filter(({ item }) => item !== undefined);
  if (had.length > 0) {
    commit.add(
      'old-groups',
      [...owner(commit, had), ['integer', had.map(({ item }) => item ?? -1)]],
      (unnest) => `regrouped AS MATERIALIZED (
        SELECT d.id, d.bucket, d.seen FROM ${unnest} AS d(n, id, bucket, seen) WHERE ${commit.ofWinner}
      ), old_groups AS (
        DELETE FROM rhythm.resume_groups g USING regrouped d WHERE g.execution_id = d.id AND g.bucket = d.bucket
        RETURNING g.execution_id, g.bucket, g.remaining, d.seen
      ), counted AS (
        INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
        SELECT e.queue, -e.priority, nextval('rhythm.queue_seq'), e.bucket, e.id, NULL
        FROM (SELECT execution_id, bucket FROM old_groups GROUP BY execution_id, bucket, seen HAVING sum(remaining) <> seen) o
        JOIN rhythm.executions e ON e.id = o.execution_id AND e.bucket = o.bucket
      )`,
    );
  }
  const groups = turns.flatMap((turn, n) => turn.groups.slice(0, MOST_GROUPS).map((item, number) => ({ turn, n, item, number })));
  if (groups.length === 0) return;
  commit.add(
    'groups',
    [
      ...owner(commit, groups),
      ['bigint', groups.map(({ number }) => groupNumber(fence, number))],
      ['text', groups.map(({ item }) => item.until)],
      ['integer', groups.map(({ item }) => item.members.length)],
      ['text', groups.map(({ item }) => multirange(item.members))],
    ],
    (unnest) => `new_groups AS (
      INSERT INTO rhythm.resume_groups (execution_id, bucket, group_no, until, remaining, members)
      SELECT d.id, d.bucket, d.group_no, d.until, d.remaining, d.members::int4multirange
      FROM ${unnest} AS d(n, id, bucket, group_no, until, remaining, members) WHERE ${commit.ofWinner}
    )`,
  );
}

/** Keeps log lines and drops what is older than the history keeps. */
export function addHistory(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const logs = each(turns, (turn) => turn.logs);
  if (logs.length > 0) {
    commit.add(
      'logs',
      [
        ...owner(commit, logs),
        ['text', logs.map(({ item }) => item.kind)],
        ['float8', logs.map(({ item }) => item.at)],
        ['text', logs.map(({ item }) => readable(JSON.stringify(item.detail)))],
        ['integer', logs.map(({ turn }) => turn.keepNotes)],
      ],
      (unnest) => `spoken AS MATERIALIZED (
        SELECT d.* FROM ${unnest} AS d(n, id, bucket, kind, at, detail, keep) WHERE ${commit.ofWinner}
      ), logged AS (
        INSERT INTO rhythm.history (execution_id, bucket, seq, at, kind, detail)
        SELECT id, bucket, nextval('rhythm.event_seq'), to_timestamp(at / 1000), kind, detail::jsonb FROM spoken WHERE keep > 0
      ), trimmed AS (
        DELETE FROM rhythm.history h USING (
          SELECT DISTINCT s.id, s.bucket, (SELECT o.seq FROM rhythm.history o WHERE o.execution_id = s.id AND o.bucket = s.bucket
            ORDER BY o.seq DESC OFFSET s.keep LIMIT 1) AS last FROM spoken s
        ) t WHERE h.execution_id = t.id AND h.bucket = t.bucket AND h.seq <= t.last
      )`,
    );
  }
  const forgotten = each(turns, (turn) => turn.forget);
  if (forgotten.length === 0) return;
  // Everything of a step goes with it: an endless loop of failing or chatty child workflows must not grow. By arrays, not by
  // joins: their plan stays an index scan however large the tables were when it was made.
  commit.add(
    'forgotten',
    [...owner(commit, forgotten), ['text', forgotten.map(({ item }) => item)]],
    (unnest) => `stale AS MATERIALIZED (
      SELECT d.step, d.bucket FROM ${unnest} AS d(n, id, bucket, step) WHERE ${commit.ofWinner}
    ), old_steps AS (
      DELETE FROM rhythm.executions e USING stale d
      WHERE e.id = d.step AND e.bucket = d.bucket AND e.status IN ('completed', 'failed', 'cancelled')
      RETURNING e.id, e.bucket, e.type, e.status, e.attempts
    ), old_steps_of_children AS (
      DELETE FROM rhythm.executions e USING stale d
      WHERE e.id > d.step || ':' AND e.id < d.step || ';' AND e.bucket = d.bucket AND e.status IN ('completed', 'failed', 'cancelled')
      RETURNING e.id, e.bucket, e.type, e.status, e.attempts
    ), old AS MATERIALIZED (
      SELECT * FROM old_steps UNION ALL SELECT * FROM old_steps_of_children
    ), old_marks AS (DELETE FROM rhythm.marked_executions WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE status <> 'completed'))
    ), old_notes AS (DELETE FROM rhythm.history WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE type = 'workflow' OR attempts > 0 OR status <> 'completed'))
    ), old_tokens AS (DELETE FROM rhythm.completion_tokens WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE attempts > 0 OR status <> 'completed'))
    ), old_signals AS (DELETE FROM rhythm.signals WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE type = 'workflow'))
    ), old_states AS (DELETE FROM rhythm.workflow_execution_context WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE type = 'workflow' AND status <> 'completed'))
    ), old_events AS (DELETE FROM rhythm.inbox WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE type = 'workflow' AND status <> 'completed'))
    ), old_timers AS (DELETE FROM rhythm.scheduled_queue WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE type = 'workflow' AND status <> 'completed'))
    ), old_step_groups AS (DELETE FROM rhythm.resume_groups WHERE execution_id = ANY(ARRAY(SELECT id FROM old WHERE type = 'workflow' AND status <> 'completed'))
    )`,
  );
}

// Never the number of a group that the same commit deletes: the two happen in no particular order. So it is taken from the fence.
function groupNumber(fence: number, number: number): number {
  return fence - (fence % MOST_GROUPS) + number;
}

// Numbers in a row become one range: {1,2,3,7} → {[1,4),[7,8)}.
function multirange(members: readonly number[]): string {
  const sorted = [...members].sort((a, b) => a - b);
  const ranges: string[] = [];
  for (let from = 0; from < sorted.length; ) {
    let to = from;
    while (to + 1 < sorted.length && sorted[to + 1] <= sorted[to] + 1) to++;
    ranges.push(`[${sorted[from]},${sorted[to] + 1})`);
    from = to + 1;
  }
  return `{${ranges.join(',')}}`;
}
