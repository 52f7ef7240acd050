// Versions of workflows: stored by content hash, one of them current.

import type { StoredAllowList } from './allow-lists.js';
import { type Runner, sql } from './statement.js';

/** A version to be stored. */
export interface NewDefinition {
  name: string;
  /** SHA-256 of the source. */
  version: string;
  source: string;
  file?: string;
  /** What `saveProgram` wrote. */
  program: string;
  allow: StoredAllowList;
}

/** A stored version. */
export interface Definition {
  name: string;
  version: string;
  source: string;
  file: string | null;
  program: string;
  allow: StoredAllowList;
  current: boolean;
  createdAt: Date;
}

// A hash never seen becomes current; one that is there already changes nothing, so an old pod that restarts rolls nothing back.
const UPSERT = sql(
  'upsert_definitions',
  `INSERT INTO rhythm.workflow_definitions (name, version, source, file, program, allow, allow_seen, activation)
  SELECT d.name, d.version, d.source, d.file, d.program, d.allow, jsonb_build_array(d.allow), nextval('rhythm.activation_seq')
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::jsonb[]) AS d(name, version, source, file, program, allow)
  ORDER BY d.name, d.version
  ON CONFLICT (name, version) DO NOTHING
  RETURNING name`,
);

const COLUMNS = `d.name, d.version, d.source, d.file, d.program, d.allow, d.created_at AS "createdAt",
  d.activation = (SELECT max(o.activation) FROM rhythm.workflow_definitions o WHERE o.name = d.name) AS current`;

const CURRENT = sql(
  'current_definition',
  `SELECT ${COLUMNS} FROM rhythm.workflow_definitions d WHERE d.name = $1 ORDER BY d.activation DESC LIMIT 1`,
);
const CURRENT_VERSION = sql(
  'current_version',
  `SELECT d.version FROM rhythm.workflow_definitions d WHERE d.name = $1 ORDER BY d.activation DESC LIMIT 1`,
);
const ONE = sql('get_definition', `SELECT ${COLUMNS} FROM rhythm.workflow_definitions d WHERE d.name = $1 AND d.version = $2`);
const LIST = sql(
  'list_definitions',
  `SELECT ${COLUMNS} FROM rhythm.workflow_definitions d WHERE $1::text IS NULL OR d.name = $1 ORDER BY d.name, d.activation DESC`,
);
const NAMES = sql('definition_names', `SELECT DISTINCT name FROM rhythm.workflow_definitions ORDER BY name`);
const ACTIVATE = sql(
  'activate_definition',
  `UPDATE rhythm.workflow_definitions SET activation = nextval('rhythm.activation_seq') WHERE name = $1 AND version = $2 RETURNING name`,
);
const IN_USE = sql(
  'versions_in_use',
  `SELECT e.target_name AS name, e.version, count(*)::integer AS runs FROM rhythm.workflow_execution_context c
  JOIN rhythm.executions e ON e.id = c.execution_id AND e.bucket = c.bucket
  WHERE e.status IN ('pending', 'suspended', 'paused') GROUP BY 1, 2 ORDER BY 1, 2`,
);

/** Stores versions that are not there yet and makes them current. Answers the names that got a new version. */
export async function upsertDefinitions(db: Runner, definitions: readonly NewDefinition[]): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(UPSERT, [
    definitions.map((definition) => definition.name),
    definitions.map((definition) => definition.version),
    definitions.map((definition) => definition.source),
    definitions.map((definition) => definition.file ?? null),
    definitions.map((definition) => definition.program),
    definitions.map((definition) => JSON.stringify(definition.allow)),
  ]);
  return rows.map((row) => row.name);
}

/** The version that starts without a loaded flow use. */
export async function currentDefinition(db: Runner, name: string): Promise<Definition | undefined> {
  return (await db.rows<Definition>(CURRENT, [name]))[0];
}

/** The hash of the current version alone: sources and programs may be long. */
export async function currentVersion(db: Runner, name: string): Promise<string | undefined> {
  return (await db.rows<{ version: string }>(CURRENT_VERSION, [name]))[0]?.version;
}

export async function getDefinition(db: Runner, name: string, version: string): Promise<Definition | undefined> {
  return (await db.rows<Definition>(ONE, [name, version]))[0];
}

/** Every version, newest activation first within a name. */
export async function listDefinitions(db: Runner, name?: string): Promise<Definition[]> {
  return db.rows<Definition>(LIST, [name ?? null]);
}

/** The names of all workflows in the database, for messages. */
export async function definitionNames(db: Runner): Promise<string[]> {
  return (await db.rows<{ name: string }>(NAMES)).map((row) => row.name);
}

/** Makes a stored version current. Answers false when there is no such version. */
export async function activateDefinition(db: Runner, name: string, version: string): Promise<boolean> {
  return (await db.rows(ACTIVATE, [name, version])).length > 0;
}

/** How many live runs each version has. */
export async function versionsInUse(db: Runner): Promise<{ name: string; version: string; runs: number }[]> {
  return db.rows(IN_USE);
}
