// A turn of a workflow, as a part of a commit: the run's new status, its stored state and the events it consumed.

import { arrayBytes } from '../array-bytes.js';
import type { NewExecution } from '../insert-executions.js';
import { jsonColumns } from '../json-columns.js';
import { areUsual, type Columns, type CommitBuilder } from './commit-builder.js';
import { addLost, type Condition } from './fence-losers.js';
import { isEnd, type ParentCall } from './task-commit.js';

/** A timer or timeout to be set. */
export interface NewTimer {
  kind: 'timer' | 'timeout' | 'grace' | 'wake';
  call: number;
  /** Dated by the database's clock at the commit … */
  delayMs?: number;
  /** … or at a given time, in milliseconds. */
  at?: number;
}

/** What a turn of a workflow came to. */
export interface TurnCommit {
  id: string;
  bucket: number;
  fence: number;
  status: 'suspended' | 'pending' | 'paused' | 'completed' | 'failed' | 'cancelled';
  output?: string;
  error?: string;
  /** Why it does not move, when it is neither ended nor waiting. */
  note?: string;
  startedAt: number;
  /** This turn told the run that it is cancelled. */
  cancelled?: boolean;
  parent?: ParentCall;
  /** `store`: this is the state now. `keep`: the old one stays (a failing turn). `leave`: nothing is touched. `drop`: the run is over. */
  state:
    | {
        action: 'store';
        snapshot: string | null;
        snapshotRef?: string;
        calls: number /** There is a state at this fence. */;
        known?: boolean;
      }
    | { action: 'keep'; calls: number }
    | { action: 'leave' | 'drop' };
  /** Sequence numbers of the events and of the signals that were consumed. */
  events: readonly number[];
  signals: readonly number[];
  children: readonly NewExecution[];
  timers: readonly NewTimer[];
  /** Calls whose timers are forgotten. */
  withdrawn: readonly number[];
  /** Calls whose tasks or child workflows are cancelled. */
  cancels: readonly number[];
  /** Cancel every living child. */
  cascade?: boolean;
  /** Calls that are answered at once: a child that is detached, a workflow that does not exist. JSON texts. */
  replies: readonly { call: number; kind: 'completed' | 'failed'; payload: string }[];
  groups: readonly { until: 'all' | 'settled'; members: readonly number[] }[];
  /** What the groups had left when the run was loaded; `undefined` when the run has no groups. `null`: not known. */
  remaining?: number | null;
  /** Ids of steps that are dropped from the kept history. */
  forget: readonly string[];
  logs: readonly { kind: string; at: number; detail: unknown }[];
  /** Notes and log lines kept per run. */
  keepNotes: number;
  /** Wake the run again at once. */
  again?: boolean;
  /** Fused: only if this task of the same commit won its fence. */
  needs?: number;
  /**
   * Run without a look at the stored events: only if there are none, and no signals that wait but these (sequence numbers).
   * Signals matter only to a run that takes any.
   */
  unread?: { takesSignals: boolean; signals: readonly number[] };
}

const NONE: readonly never[] = Object.freeze([]);

/** A turn that does nothing but what is given: no event is consumed, nothing is started. */
// Every field is written out, in one order: objects of one shape are small, and are copied and read fast.
export function turnCommit(
  given: Pick<TurnCommit, 'id' | 'bucket' | 'fence' | 'status' | 'startedAt' | 'state'> & Partial<TurnCommit>,
): TurnCommit {
  return {
    id: given.id,
    bucket: given.bucket,
    fence: given.fence,
    status: given.status,
    output: given.output,
    error: given.error,
    note: given.note,
    startedAt: given.startedAt,
    cancelled: given.cancelled,
    parent: given.parent,
    state: given.state,
    events: given.events ?? NONE,
    signals: given.signals ?? NONE,
    children: given.children ?? NONE,
    timers: given.timers ?? NONE,
    withdrawn: given.withdrawn ?? NONE,
    cancels: given.cancels ?? NONE,
    cascade: given.cascade,
    replies: given.replies ?? NONE,
    groups: given.groups ?? NONE,
    remaining: given.remaining,
    forget: given.forget ?? NONE,
    logs: given.logs ?? NONE,
    keepNotes: given.keepNotes ?? 0,
    again: given.again,
    needs: given.needs,
    unread: given.unread,
  };
}

/**
 * Adds the update of the runs' rows. `turned` answers the ones that won their fence.
 * A run that was told to cancel keeps the reason as its error through the turns of its clean-up.
 */
export function addTurns(commit: CommitBuilder, workerId: string, fence: number, turns: readonly TurnCommit[]): void {
  const outputs = turns.map((turn) => jsonColumns(turn.output));
  const errors = turns.map((turn) => jsonColumns(turn.error));
  const parents = turns.map(({ status, parent }) => (isEnd(status) ? parent : undefined));
  const fused = !commit.optimistic && turns.some((turn) => turn.needs !== undefined);
  const unread = !commit.optimistic && turns.some((turn) => turn.unread !== undefined);
  const columns: Columns = [
    commit.numbers(turns.map((_, n) => n)),
    ['text', turns.map((turn) => turn.id)],
    ['smallint', turns.map((turn) => turn.bucket)],
    ['bigint', turns.map((turn) => turn.fence)],
    ['text', turns.map((turn) => turn.status), 'suspended'],
    ['text', outputs.map((output) => output.readable), null],
    ['text', errors.map((error) => error.readable), null],
    ['text', turns.map((_, n) => outputs[n].verbatim ?? errors[n].verbatim), null],
    ['text', turns.map((turn) => turn.note ?? null), null],
    ['float8', turns.map((turn) => turn.startedAt)],
    ['boolean', turns.map((turn) => turn.cancelled ?? false), false],
    ['text', parents.map((parent) => parent?.id ?? null), null],
    ['smallint', parents.map((parent) => parent?.bucket ?? null), null],
    ['integer', commit.optimistic ? [] : turns.map((turn) => turn.needs ?? null), null],
    ...(unread ? [['text', turns.map((turn) => (turn.unread ? `{${turn.unread.signals}}` : null))] as const] : []),
  ];
  const told =
    commit.optimistic && areUsual(columns)
      ? ''
      : `, d.parent_id, d.parent_bucket, e.parent_call,
        CASE WHEN d.status = 'completed' THEN coalesce(d.verbatim, d.output) ELSE coalesce(d.verbatim, d.error, e.error::text) END AS payload`;
  commit.add(
    `${unread ? 'unread-' : ''}${fused ? 'fused-' : ''}turns`,
    columns,
    (unnest, worker, next) => `turned AS (
      UPDATE rhythm.executions e SET status = d.status, fence = ${next}, crashes = 0, note = d.note,
        output = d.output::json, output_verbatim = CASE WHEN d.status = 'completed' THEN d.verbatim::json END,
        error = CASE WHEN e.cancelled_at IS NULL THEN d.error::jsonb ELSE coalesce(d.error::jsonb, e.error) END,
        worker_id = ${worker}, started_at = coalesce(e.started_at, to_timestamp(d.started_at / 1000)),
        finished_at = CASE WHEN d.status IN ('completed', 'failed', 'cancelled') THEN statement_timestamp() END,
        cancelled_at = CASE WHEN d.cancelled THEN coalesce(e.cancelled_at, statement_timestamp()) ELSE e.cancelled_at END
      FROM ${unnest} AS d(n, id, bucket, fence, status, output, error, verbatim, note, started_at, cancelled, parent_id, parent_bucket, needs${unread ? ', known' : ''})
      WHERE e.id = d.id AND e.bucket = d.bucket AND e.fence = d.fence
        ${fused ? `AND (d.needs IS NULL OR ${commit.won('lost_tasks', 'd.needs')})` : ''}
        ${unread ? `AND (d.known IS NULL OR (${NOTHING_UNSEEN}))` : ''}
      RETURNING d.n, e.id, e.bucket, e.status${told}
    )`,
    [
      ['text', workerId],
      ['bigint', fence],
    ],
  );
  addLost(commit, 'lost_turns', 'turned', turns.length);
  addStates(commit, turns);
  addConsumed(commit, turns);
  if (!commit.optimistic || turns.some((turn) => turn.again)) addLosers(commit, turns);
}

// A fused turn was run with a result that is in memory only. Events that were committed before this statement come before that
// result, so the turn holds only if there are none. Otherwise it loses like one whose fence is lost: the result is written as an
// event, and the next look at the run takes them all in their order.
// Here of one row. Scalar subqueries, because an EXISTS may be planned as a hash of the whole table.
const NOTHING_UNSEEN = `(SELECT 1 FROM rhythm.inbox i WHERE i.execution_id = d.id AND i.bucket = d.bucket LIMIT 1) IS NULL
          AND (SELECT 1 FROM rhythm.signals s WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.consumed_at IS NULL
            AND s.seq <> ALL(d.known::bigint[]) LIMIT 1) IS NULL`;

/** The same of a whole group that hopes: that nothing is stored for those of its turns that were run without a look. */
// One scan of each index for the whole group, not a subquery per row (5 µs of the server's 60 per step in groups of 200). So it
// costs the server 20 µs per statement and less than 1 µs per step in groups of 200: 1–2 % of the CPU of a step, server and Node
// together. Looking for signals costs as much again, so only runs whose program can wait for one pay for it. Nothing is written,
// so the WAL is the same. (An event must not change the run's row, or the fence would tell: senders only insert.)
export function nothingUnseen(turns: readonly TurnCommit[]): Condition | undefined {
  const unread = turns.filter((turn) => turn.unread);
  if (unread.length === 0) return undefined;
  const texts = (of: readonly TurnCommit[]) =>
    arrayBytes(
      'text',
      of.map(({ id }) => id),
    );
  const noEvents = (ids: string) => `NOT EXISTS (SELECT 1 FROM rhythm.inbox i WHERE i.execution_id = ANY(${ids}))`;
  const takers = unread.filter((turn) => turn.unread?.takesSignals);
  if (takers.length === 0) return { name: 'no-events', scalars: [['text[]', texts(unread)]], text: noEvents };
  return {
    name: 'no-events-or-signals',
    scalars: [
      ['text[]', texts(unread)],
      ['text[]', texts(takers)],
      [
        'bigint[]',
        arrayBytes(
          'bigint',
          takers.flatMap((turn) => turn.unread?.signals ?? []),
        ),
      ],
    ],
    text: (ids, takersIds, known) => `${noEvents(ids)} AND NOT EXISTS (
        SELECT 1 FROM rhythm.signals s WHERE s.execution_id = ANY(${takersIds}) AND s.consumed_at IS NULL AND s.seq <> ALL(${known}))`,
  };
}

type StoredState = Extract<TurnCommit['state'], { action: 'store' }>;

/** States that replace one which is there: a optimistic commit writes over them without asking whether they are. */
export function knownStates(turns: readonly TurnCommit[]): number {
  return turns.filter(({ state }) => state.action === 'store' && state.known).length;
}

function addStates(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const stored = turns.flatMap((turn, n) => (turn.state.action === 'store' ? [{ turn, n, state: turn.state }] : []));
  const columnsOf = (states: readonly { turn: TurnCommit; n: number; state: StoredState }[]) =>
    [
      commit.numbers(states.map(({ n }) => n)),
      ['text', states.map(({ turn }) => turn.id)],
      ['smallint', states.map(({ turn }) => turn.bucket)],
      ['text', states.map(({ state }) => state.snapshot)],
      ['text', states.map(({ state }) => state.snapshotRef ?? null), null],
      ['integer', states.map(({ state }) => state.calls)],
    ] as const;
  const known = commit.optimistic ? stored.filter(({ state }) => state.known) : [];
  if (known.length > 0) {
    // ON CONFLICT would lock each row with a record of its own before it writes it.
    commit.add(
      'known-states',
      columnsOf(known),
      (unnest) => `renewed AS (
        UPDATE rhythm.workflow_execution_context c SET snapshot = d.snapshot::json, snapshot_ref = d.ref, calls = d.calls
        FROM ${unnest} AS d(n, id, bucket, snapshot, ref, calls) WHERE c.execution_id = d.id AND c.bucket = d.bucket AND ${commit.ofWinner}
        RETURNING 1
      )`,
    );
  }
  const others = known.length > 0 ? stored.filter(({ state }) => !state.known) : stored;
  if (others.length > 0) {
    commit.add(
      'states',
      columnsOf(others),
      (unnest) => `stored AS (
        INSERT INTO rhythm.workflow_execution_context (execution_id, bucket, snapshot, snapshot_ref, calls)
        SELECT d.id, d.bucket, d.snapshot::json, d.ref, d.calls FROM ${unnest} AS d(n, id, bucket, snapshot, ref, calls) WHERE ${commit.ofWinner}
        ON CONFLICT (execution_id, bucket) DO UPDATE
          SET snapshot = excluded.snapshot, snapshot_ref = excluded.snapshot_ref, calls = excluded.calls
      )`,
    );
  }
  // A failing turn keeps the state before it; only the numbers it gave away are remembered.
  const kept = turns.flatMap((turn, n) => (turn.state.action === 'keep' ? [{ turn, n, calls: turn.state.calls }] : []));
  if (kept.length > 0) {
    commit.add(
      'kept',
      [
        commit.numbers(kept.map(({ n }) => n)),
        ['text', kept.map(({ turn }) => turn.id)],
        ['smallint', kept.map(({ turn }) => turn.bucket)],
        ['integer', kept.map(({ calls }) => calls)],
      ],
      (unnest) => `kept AS (
        INSERT INTO rhythm.workflow_execution_context (execution_id, bucket, calls)
        SELECT d.id, d.bucket, d.calls FROM ${unnest} AS d(n, id, bucket, calls) WHERE ${commit.ofWinner}
        ON CONFLICT (execution_id, bucket) DO UPDATE SET calls = excluded.calls
      )`,
    );
  }
  const dropped = turns.flatMap((turn, n) => (turn.state.action === 'drop' ? [{ turn, n }] : []));
  if (dropped.length === 0) return;
  // A run that is over leaves nothing behind but its row and its steps.
  commit.add(
    'dropped',
    [
      commit.numbers(dropped.map(({ n }) => n)),
      ['text', dropped.map(({ turn }) => turn.id)],
      ['smallint', dropped.map(({ turn }) => turn.bucket)],
    ],
    (unnest) => `dropped AS MATERIALIZED (
      SELECT d.id, d.bucket FROM ${unnest} AS d(n, id, bucket) WHERE ${commit.ofWinner}
    ), no_state AS (DELETE FROM rhythm.workflow_execution_context t USING dropped d WHERE t.execution_id = d.id AND t.bucket = d.bucket
    ), no_events AS (DELETE FROM rhythm.inbox t USING dropped d WHERE t.execution_id = d.id AND t.bucket = d.bucket
    ), no_signals AS (DELETE FROM rhythm.signals t USING dropped d WHERE t.execution_id = d.id AND t.bucket = d.bucket
    ), no_timers AS (DELETE FROM rhythm.scheduled_queue t USING dropped d WHERE t.execution_id = d.id AND t.bucket = d.bucket
    ), no_groups AS (DELETE FROM rhythm.resume_groups t USING dropped d WHERE t.execution_id = d.id AND t.bucket = d.bucket
    )`,
  );
}

// Exactly the events that were consumed: another may have come meanwhile, and its own wake is on the way.
function addConsumed(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  const of = (pick: (turn: TurnCommit) => readonly number[]) =>
    turns.flatMap((turn, n) => (turn.state.action === 'drop' ? [] : pick(turn).map((seq) => ({ turn, n, seq }))));
  const columns = (items: ReturnType<typeof of>) =>
    [
      commit.numbers(items.map(({ n }) => n)),
      ['text', items.map(({ turn }) => turn.id)],
      ['smallint', items.map(({ turn }) => turn.bucket)],
      ['bigint', items.map(({ seq }) => seq)],
    ] as const;
  const events = of((turn) => turn.events);
  if (events.length > 0) {
    commit.add(
      'events',
      columns(events),
      (unnest) => `consumed AS (
        DELETE FROM rhythm.inbox i USING ${unnest} AS d(n, id, bucket, seq)
        WHERE i.execution_id = d.id AND i.bucket = d.bucket AND i.seq = d.seq AND ${commit.ofWinner}
      )`,
    );
  }
  const signals = of((turn) => turn.signals);
  if (signals.length === 0) return;
  // A signal with a key stays to the end of the run, without its payload: a later one with the same key is a duplicate.
  commit.add(
    'signals',
    columns(signals),
    (unnest) => `taken AS MATERIALIZED (
      SELECT d.id, d.bucket, d.seq FROM ${unnest} AS d(n, id, bucket, seq) WHERE ${commit.ofWinner}
    ), forgotten_signals AS (
      DELETE FROM rhythm.signals s USING taken d WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.seq = d.seq AND s.dedupe_key IS NULL
    ), remembered_signals AS (
      UPDATE rhythm.signals s SET consumed_at = statement_timestamp(), payload = NULL FROM taken d
      WHERE s.execution_id = d.id AND s.bucket = d.bucket AND s.seq = d.seq AND s.dedupe_key IS NOT NULL
    )`,
  );
}

// The loser of a race for a turn took a queue row with it; whatever event that row stood for must be looked at again. Also
// when the winner has ended the run: its end took away the events it saw, and this one may have come after. The claim of such a
// row finds the run ended, and drops what is left.
function addLosers(commit: CommitBuilder, turns: readonly TurnCommit[]): void {
  commit.add(
    'losers',
    [
      commit.numbers(turns.map((_, n) => n)),
      ['text', turns.map((turn) => turn.id)],
      ['smallint', turns.map((turn) => turn.bucket)],
      ['boolean', turns.map((turn) => turn.again ?? false)],
    ],
    (unnest) => `again AS (
      INSERT INTO rhythm.work_queue (queue, rank, seq, bucket, execution_id, fence)
      SELECT e.queue, -e.priority, nextval('rhythm.queue_seq'), e.bucket, e.id, NULL
      FROM ${unnest} AS d(n, id, bucket, again) JOIN rhythm.executions e ON e.id = d.id AND e.bucket = d.bucket
      WHERE d.again OR NOT (${commit.ofWinner})
    )`,
  );
}
