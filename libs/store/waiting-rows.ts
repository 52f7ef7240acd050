// The rows of what executions wait for, as parts of statements: how they are written, whoever lets an execution go.

import { createHash } from 'node:crypto';
import type { Columns } from './commit/commit-builder.js';

/** What an execution waits for at one place of its source. */
export interface WaitingRow {
  kind: WaitingKind;
  name: string;
  line: number | null;
  function: string | null;
  calls: number;
}

/**
 * What an execution may wait for. `worker`: it was resumed or retried, and the next turn tells what it waits for. `completion`: a task
 * that was handed over.
 */
export const WAITING_KINDS = ['signal', 'timer', 'task', 'child', 'completion', 'worker'] as const;
export type WaitingKind = (typeof WAITING_KINDS)[number];

/** The most rows of one run. */
export const MOST_WAITING_ROWS = 8;
// An entry of a B-tree has 2,704 bytes at most. One that is larger would make the whole commit fail.
const LONGEST_NAME = 200;
const LONGEST_FUNCTION = 100;
/** Of an execution with rows, in bytes. */
export const LONGEST_ID = 1_500;
const SHOWN_OF_LONG = 100;
const HASH_DIGITS = 32;

/** A name as it is stored: a long one is cut and marked with its hash, so that different names stay different. */
export function waitName(name: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const characters = Array.from(name);
  if (characters.length <= LONGEST_NAME) return name;
  return `${characters.slice(0, SHOWN_OF_LONG).join('')}…${createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS)}`;
}

/** The same in SQL. */
export const waitNameOf = (name: string) =>
  `CASE WHEN length(${name}) <= ${LONGEST_NAME} THEN ${name}
        ELSE left(${name}, ${SHOWN_OF_LONG}) || '…' || left(encode(sha256(convert_to(${name}, 'UTF8')), 'hex'), ${HASH_DIGITS}) END`;

// PostgreSQL's text has no NUL, and UTF-8 no half of a surrogate pair. The names of functions may contain both.
function functionName(name: string | null): string | null {
  return name === null ? null : name.slice(0, LONGEST_FUNCTION).replace(/[\0\uD800-\uDFFF]/gu, '\uFFFD');
}

/** Rows of an execution, with the turn that suspended it. */
export interface RowsOfExecution {
  id: string;
  turn: number;
  rows: readonly WaitingRow[];
}

/** The columns of rows, and the place in `all` that each belongs to. */
export function waitingColumns(all: readonly RowsOfExecution[]): { owners: number[]; columns: Columns } {
  const owners: number[] = [];
  const [turns, places, firsts, kinds, names, lines, functions, calls] = [[], [], [], [], [], [], [], []] as [
    turns: number[],
    places: number[],
    firsts: boolean[],
    kinds: string[],
    names: string[],
    lines: (number | null)[],
    functions: (string | null)[],
    calls: number[],
  ];
  all.forEach(({ id, turn, rows }, owner) => {
    // A long key in another script, or children of children of children ….
    if (Buffer.byteLength(id) > LONGEST_ID) return;
    const seen = new Set<string>();
    rows.slice(0, MOST_WAITING_ROWS).forEach((row, place) => {
      owners.push(owner);
      turns.push(turn);
      places.push(place);
      firsts.push(!seen.has(row.kind));
      seen.add(row.kind);
      kinds.push(row.kind);
      names.push(waitName(row.name));
      lines.push(row.line);
      functions.push(functionName(row.function));
      calls.push(row.calls);
    });
  });
  const columns: Columns = [
    ['integer', turns],
    ['smallint', places],
    ['boolean', firsts],
    ['text', kinds],
    ['text', names],
    ['integer', lines],
    ['text', functions],
    ['integer', calls],
  ];
  return { owners, columns };
}

/** The names of these columns, in their order. */
export const WAITING_COLUMNS = 'turn, place, first_of_kind, kind, name, line, function, calls';

/** Inserts rows. `from` is what follows FROM, with the rows `d` and their executions `e`. */
export function insertWaiting(from: string): string {
  const given = WAITING_COLUMNS.split(', ').map((column) => `d.${column}`);
  return `INSERT INTO rhythm.waiting (execution_id, bucket, created_at, workflow, version, ${WAITING_COLUMNS})
      SELECT e.id, e.bucket, e.created_at, ${waitNameOf('e.target_name')}, e.version, ${given} FROM ${from}`;
}

/** Inserts the only row of executions that wait at no place of a source. `from` is what follows FROM, with the executions `e`. */
export function insertWaitingOne(kind: WaitingKind, from: string, turns = 'e.turns'): string {
  return `INSERT INTO rhythm.waiting (execution_id, bucket, created_at, workflow, version, turn, place, first_of_kind, kind, name, calls)
      SELECT e.id, e.bucket, e.created_at, ${waitNameOf('e.target_name')}, e.version, coalesce(${turns}, 0), 0, true, '${kind}',
        ${kind === 'worker' ? `''` : waitNameOf('e.target_name')}, 1 FROM ${from} AND octet_length(e.id) <= ${LONGEST_ID} ON CONFLICT DO NOTHING`;
}

/** Deletes the rows of the executions in `source` (with columns `id` and `bucket`). */
export function deleteWaiting(source: string): string {
  return `DELETE FROM rhythm.waiting w USING ${source} WHERE w.execution_id = d.id AND w.bucket = d.bucket`;
}
