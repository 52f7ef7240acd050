// Reads the states that a run has kept of its last turns.

import { millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { bucketOf } from '../ids.js';

/** A durable call that a kept state waits for. */
export interface KeptCall {
  /** Its number. */
  call: number;
  kind: 'task' | 'workflow' | 'timer' | 'wait';
  /** Of the task, the workflow or the signal. */
  name: string;
  /** Of a task or a child workflow: its execution. */
  id?: string;
  queue?: string;
  priority?: number;
  version?: string;
  /** JSON text. */
  input?: string;
  options?: Record<string, unknown>;
  /** When a timer, or the timeout of a wait, is due, in milliseconds. */
  dueAt?: number;
}

/** A kept state, without the state. */
export interface KeptTurn {
  turn: number;
  storedAt: Date;
  fingerprint: string | null;
  pendingCalls: KeptCall[];
}

const LIST = sql(
  'list_kept_states',
  `SELECT turn, stored_at AS "storedAt", fingerprint, pending_calls AS "pendingCalls" FROM rhythm.snapshots
  WHERE execution_id = $1 AND bucket = $2 ORDER BY turn DESC LIMIT $3`,
);

const READ = sql(
  'read_kept_state',
  `SELECT state::text AS snapshot, state_ref AS "snapshotRef", pending_calls AS "pendingCalls", ${millis('stored_at')} AS "storedAt"
  FROM rhythm.snapshots WHERE execution_id = $1 AND bucket = $2 AND turn = $3`,
);

/** The kept states of a run, newest first. */
export async function listKeptStates(db: Runner, id: string, limit: number): Promise<KeptTurn[]> {
  return db.rows<KeptTurn>(LIST, [id, bucketOf(id), limit]);
}

/** A kept state: JSON text, or where it is stored. */
export interface KeptSnapshot {
  snapshot: string | null;
  snapshotRef: string | null;
  pendingCalls: KeptCall[];
  storedAt: number;
}

/** The state after a turn, or undefined when it is not kept. */
export async function readKeptState(db: Runner, id: string, turn: number): Promise<KeptSnapshot | undefined> {
  return (await db.rows<KeptSnapshot>(READ, [id, bucketOf(id), turn]))[0];
}
