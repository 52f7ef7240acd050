// Where lists of what waits find their executions: the rows of `waiting` in the order of the list, so that a page reads only its own rows.

import { WAITING_KINDS, type WaitingKind, waitName } from '../waiting-rows.js';
import { RUNS_WITH_STEPS } from './execution-rows.js';

/** What listed executions wait for; without a name, for anything of the kind. */
export interface WaitingFilter {
  kind: WaitingKind;
  name?: string;
}

/** Adds a parameter of the statement. Returns how it is written there. */
export type AddParameter = (value: unknown) => string;

/** What follows FROM, as `w` with the key and the time of an execution, and conditions. */
export interface WaitingSource {
  from: string;
  where: string;
}

const WAITING = 'rhythm.waiting w';

/**
 * The executions that wait for something, each of them once and in the order of an index. `range` are conditions on `w.created_at`,
 * `w.execution_id` and `w.workflow`.
 */
// A run that waits for one signal at two places has two rows. A scalar subquery, because an EXISTS may be planned as a hash of the table.
export function waitingFor({ kind, name }: WaitingFilter, range: string, add: AddParameter): WaitingSource {
  if (name === undefined) return { from: WAITING, where: `w.kind = ${add(kind)} AND w.first_of_kind ${range}` };
  return {
    from: WAITING,
    where: `w.kind = ${add(kind)} AND w.name = ${add(waitName(name))} ${range}
      AND (SELECT 1 FROM rhythm.waiting o WHERE o.execution_id = w.execution_id AND o.bucket = w.bucket AND o.kind = w.kind AND o.name = w.name AND o.place < w.place LIMIT 1) IS NULL`,
  };
}

/** The same for everything that is suspended, as several sources: what was let go, kind by kind, and the runs whose steps run in place. */
// The index has each kind in the order of the list. One for all kinds would be a fifth one to write with every row.
export function allSuspended(range: string): WaitingSource[] {
  const kinds = WAITING_KINDS.map((kind) => ({ from: WAITING, where: `w.kind = '${kind}' AND w.first_of_kind AND w.place = 0 ${range}` }));
  const inPlace = {
    from: `(SELECT r.id AS execution_id, r.bucket, r.created_at, r.target_name AS workflow FROM ${RUNS_WITH_STEPS} WHERE r.pending IS NOT NULL) w`,
    where: `(SELECT 1 FROM rhythm.waiting o WHERE o.execution_id = w.execution_id AND o.bucket = w.bucket LIMIT 1) IS NULL ${range}`,
  };
  return [...kinds, inPlace];
}

/** Whether the execution `e` waits for it. */
export function isWaitingFor({ kind, name }: WaitingFilter, add: AddParameter): string {
  const named = name === undefined ? '' : `AND w.name = ${add(waitName(name))}`;
  return `(SELECT 1 FROM rhythm.waiting w WHERE w.execution_id = e.id AND w.bucket = e.bucket AND w.kind = ${add(kind)} ${named} LIMIT 1) IS NOT NULL`;
}
