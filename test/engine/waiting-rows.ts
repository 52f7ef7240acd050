// What specs check of `waiting`: that its rows are those of suspended executions and no others, and that they say what `inspect` says.

import { inspectRun } from '../../src/execution/inspect-run.js';
import type { Harness } from './harness.js';

export interface WaitingRowOf {
  id: string;
  kind: string;
  name: string;
  line: number | null;
  function: string | null;
  calls: number;
}

/** The rows of an execution, in their order. */
export async function waitingOf(harness: Harness, id: string): Promise<Omit<WaitingRowOf, 'id'>[]> {
  return harness.query(`SELECT kind, name, line, function, calls FROM rhythm.waiting WHERE execution_id = $1 ORDER BY turn, place`, [id]);
}

// True of every state that a transaction can see. One whose steps run in place is not let go.
const WRONG = `SELECT w.execution_id || ' has rows and is ' || coalesce(e.status, 'gone') AS what FROM rhythm.waiting w
    LEFT JOIN rhythm.executions e ON e.id = w.execution_id AND e.bucket = w.bucket WHERE e.status NOT IN ('suspended', 'paused') OR e.id IS NULL
  UNION ALL SELECT e.id || ' is suspended and has no row' FROM rhythm.executions e WHERE e.status = 'suspended' AND e.pending IS NULL
    AND NOT EXISTS (SELECT FROM rhythm.waiting w WHERE w.execution_id = e.id AND w.bucket = e.bucket AND w.place = 0 AND w.first_of_kind)
  UNION ALL SELECT w.execution_id || ' has rows of two turns' FROM rhythm.waiting w GROUP BY w.execution_id, w.bucket HAVING count(DISTINCT w.turn) > 1 OR count(*) > 8`;

/** What is wrong at this moment, whatever moves. */
export async function wrongRows(harness: Harness): Promise<string[]> {
  return (await harness.query<{ what: string }>(WRONG)).map(({ what }) => what);
}

/** How the rows of a suspended run differ from what `inspect` says of its stored state. */
export async function differencesOf(harness: Harness, id: string): Promise<string[]> {
  const [rows, { branches, pending }] = await Promise.all([waitingOf(harness, id), inspectRun(harness.store.db, id)]);
  const key = (kind: string, name: string, line: number | null, fn: string | null) => `${kind} ${name} in ${fn} at ${line}`;
  const shown = new Map<number, Set<string>>();
  const possible = new Set<string>();
  for (const { stack, calls, waitsFor } of branches) {
    for (const call of pending.filter((each) => calls.includes(each.id))) {
      const kind = { wait: 'signal', workflow: 'child', timer: 'timer', task: 'task' }[call.kind];
      const name = call.kind === 'timer' ? '' : call.name;
      const keys = [key(kind, name, stack[0].line, stack[0].function)];
      // It waits for its timeout, if it has one.
      if (call.kind === 'wait' && waitsFor.includes('no longer takes'))
        keys.push(key('timer', '', stack[0].line, stack[0].function), 'nothing');
      const known = shown.get(call.id) ?? new Set();
      for (const each of keys) known.add(each);
      shown.set(call.id, known);
      for (const each of keys) possible.add(each);
    }
  }
  const written = rows.map((row) => key(row.kind, row.name, row.line, row.function));
  if (shown.size === 0) {
    const names = new Set(pending.map(({ name, kind }) => (kind === 'timer' ? '' : name)));
    return rows
      .filter(({ name, line }) => line !== null || !names.has(name))
      .map((row) => `${id}: ${JSON.stringify(row)} of ${JSON.stringify(pending)}`);
  }
  const found = written.filter((each) => !possible.has(each)).map((each) => `${id} does not wait for ${each}, but for ${[...possible]}`);
  for (const keys of shown.values()) {
    if (rows.length < 8 && !keys.has('nothing') && ![...keys].some((each) => written.includes(each)))
      found.push(`${id} waits for ${[...keys]}, not ${written}`);
  }
  return found;
}
