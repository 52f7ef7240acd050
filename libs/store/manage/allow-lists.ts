// What limits the runs of workflows, allow-lists and isolation: stored with each version, read to know what is in force, changed under a lock.

import { type Runner, sql } from '../connect/statement.js';

/** The names that the runs of a version may use, by kind; a kind that is absent allows every name. */
export interface StoredAllowList {
  tasks?: readonly string[];
  workflows?: readonly string[];
  queues?: readonly string[];
}

/** A version of a workflow. */
export interface VersionKey {
  name: string;
  version: string;
}

/** What limits the runs of a version; the lists are null where the database has no such version, or no such workflow. */
export interface AllowListInForce extends VersionKey {
  /** Stored with the version itself. */
  allow: StoredAllowList | null;
  /** Stored with the version that is current. */
  currentAllow: StoredAllowList | null;
  /** The version itself or the current one asks for a process of its own. */
  isolate: boolean;
}

/** What a process declares for a version: names, and isolation if it asks for that. */
export interface Declaration extends StoredAllowList {
  isolate?: true;
}

/** What is stored for a version, with everything that a process has declared for it. */
export interface AllowListState extends VersionKey {
  allow: StoredAllowList;
  isolate: boolean;
  seen: Declaration[];
}

export function declarationOf(allow: StoredAllowList, isolate: boolean): Declaration {
  return isolate ? { ...allow, isolate } : allow;
}

// A worker under load runs it about once a second, for every version it runs at that time.
const IN_FORCE = sql(
  'allow_lists_in_force',
  `SELECT k.name, k.version, d.allow, n.allow AS "currentAllow", coalesce(d.isolate, false) OR coalesce(n.isolate, false) AS isolate
  FROM unnest($1::text[], $2::text[]) AS k(name, version)
  LEFT JOIN rhythm.workflow_definitions d ON d.name = k.name AND d.version = k.version
  LEFT JOIN LATERAL (SELECT c.allow, c.isolate FROM rhythm.workflow_definitions c WHERE c.name = k.name
    ORDER BY c.activation DESC LIMIT 1) n ON true`,
);

const STATES = `SELECT d.name, d.version, d.allow, d.isolate, d.allow_seen AS seen
  FROM unnest($1::text[], $2::text[]) AS k(name, version)
  JOIN rhythm.workflow_definitions d ON d.name = k.name AND d.version = k.version`;
const READ = sql('read_allow_lists', STATES);
// In one order, so that processes that start at the same time do not lock each other out.
const LOCK = sql('lock_allow_lists', `${STATES} ORDER BY d.name, d.version FOR UPDATE OF d`);

const CHANGE = sql(
  'change_allow_lists',
  `UPDATE rhythm.workflow_definitions d SET allow = k.allow, allow_seen = k.seen, isolate = k.isolate
  FROM unnest($1::text[], $2::text[], $3::jsonb[], $4::jsonb[], $5::boolean[]) AS k(name, version, allow, seen, isolate)
  WHERE d.name = k.name AND d.version = k.version`,
);

/** The lists that limit the runs of these versions, in the order of the keys. */
export async function allowListsInForce(db: Runner, keys: readonly VersionKey[]): Promise<AllowListInForce[]> {
  return db.rows<AllowListInForce>(IN_FORCE, columns(keys));
}

/** The stored lists of these versions; those that are not in the database are left out. */
export async function readAllowLists(db: Runner, keys: readonly VersionKey[]): Promise<AllowListState[]> {
  return db.rows<AllowListState>(READ, columns(keys));
}

/** The same, locked until the transaction ends. */
export async function lockAllowLists(db: Runner, keys: readonly VersionKey[]): Promise<AllowListState[]> {
  return db.rows<AllowListState>(LOCK, columns(keys));
}

/** Stores lists. Lock them first in the same transaction. */
export async function changeAllowLists(db: Runner, states: readonly AllowListState[]): Promise<void> {
  const json = (value: unknown) => JSON.stringify(value);
  const allows = states.map(({ allow }) => json(allow));
  const seen = states.map((state) => json(state.seen));
  await db.rows(CHANGE, [...columns(states), allows, seen, states.map(({ isolate }) => isolate)]);
}

function columns(keys: readonly VersionKey[]): [string[], string[]] {
  return [keys.map(({ name }) => name), keys.map(({ version }) => version)];
}
