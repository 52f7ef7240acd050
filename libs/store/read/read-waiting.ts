// Counts what suspended executions wait for: by kind, and by the place of the source.

import { type Runner, sql } from '../connect/statement.js';
import { type WaitingKind, waitName } from '../waiting-rows.js';

/** How many runs of a workflow version wait at one place of its source. */
export interface WaitingCount {
  workflow: string;
  version: string;
  kind: Exclude<WaitingKind, 'completion'>;
  /** Of the signal, the task or the child workflow; empty for timers and for runs that wait for a worker. */
  name: string;
  /** Null when no function awaits the call directly, and for runs that wait for a worker. */
  line: number | null;
  function: string | null;
  runs: number;
}

// Both read only the index of places, in which equal keys are stored once: 100,000 rows are about a hundred pages.
// As FILTER and not as WHERE, because the planner would choose the index of the kinds, which is ten times as large.
const KINDS = sql(
  'waiting_kinds',
  `SELECT w.kind, count(*) FILTER (WHERE w.first_of_kind)::integer AS runs FROM rhythm.waiting w GROUP BY w.kind`,
);
const counts = (name: string, where: string) =>
  sql(
    name,
    `SELECT w.workflow, w.version, w.kind, w.name, w.line, w.function, count(*)::integer AS runs FROM rhythm.waiting w
    WHERE w.version IS NOT NULL ${where} GROUP BY w.workflow, w.version, w.kind, w.name, w.line, w.function
    ORDER BY runs DESC, w.workflow, w.version, w.line, w.kind, w.name LIMIT $1`,
  );
const ALL = counts('waiting_counts', '');
const OF_WORKFLOW = counts('waiting_counts_of_workflow', 'AND w.workflow = $2');
const OF_VERSION = counts('waiting_counts_of_version', 'AND w.workflow = $2 AND w.version = $3');

/** How many executions wait for each kind; one that waits for several counts in each. */
export async function countWaitingKinds(db: Runner): Promise<Partial<Record<WaitingKind, number>>> {
  const rows = await db.rows<{ kind: WaitingKind; runs: number }>(KINDS);
  return Object.fromEntries(rows.map(({ kind, runs }) => [kind, runs]));
}

/** How many runs wait at each place, the most first. */
export async function countWaiting(db: Runner, limit: number, workflow?: string, version?: string): Promise<WaitingCount[]> {
  if (workflow === undefined) return db.rows(ALL, [limit]);
  const name = waitName(workflow);
  return version === undefined ? db.rows(OF_WORKFLOW, [limit, name]) : db.rows(OF_VERSION, [limit, name, version]);
}
