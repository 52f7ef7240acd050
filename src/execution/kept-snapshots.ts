// The states that runs keep of their last turns, as callers see them.

import { type KeptCall, listKeptStates, type Runner } from '../../libs/store/index.js';

/** A durable call that a run waited for. */
export type KeptSnapshotCall = Omit<KeptCall, 'input'> & {
  /** What it was called with. */
  input?: unknown;
};

/** A state that a run has kept: `inspect(id, { turn })` shows it. */
export interface KeptSnapshot {
  turn: number;
  storedAt: Date;
  /** Of the program that it belongs to. */
  fingerprint: string | null;
  /** The calls that it waited for. */
  pending: KeptSnapshotCall[];
}

/** The kept states of a run, newest first. */
export async function keptSnapshots(db: Runner, id: string, limit: number): Promise<KeptSnapshot[]> {
  const kept = await listKeptStates(db, id, limit);
  return kept.map(({ pendingCalls, ...state }) => ({ ...state, pending: pendingCalls.map(shown) }));
}

function shown({ input, ...call }: KeptCall): KeptSnapshotCall {
  return input === undefined ? call : { ...call, input: JSON.parse(input) };
}
