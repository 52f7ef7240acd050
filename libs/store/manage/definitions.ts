// Versions of workflows: stored by content hash, one of them current.

import { type Runner, sql } from '../connect/statement.js';
import { LIVE } from '../ended.js';
import { RUNS_WITH_STEPS } from '../read/execution-rows.js';
import { declarationOf, type StoredAllowList } from './allow-lists.js';

/** A version to be stored. */
export interface NewDefinition {
  name: string;
  /** SHA-256 of the source. */
  version: string;
  source: string;
  file?: string;
  /** Of the program: two compilers may make different ones of the same source. */
  fingerprint: string;
  /** What `saveProgram` wrote. */
  program: string;
  allow: StoredAllowList;
  /** Its turns run in a process of their own. */
  isolate: boolean;
}

/** A stored version. */
export interface Definition {
  name: string;
  version: string;
  source: string;
  file: string | null;
  allow: StoredAllowList;
  /** Its turns run in a process of their own. */
  isolate: boolean;
  current: boolean;
  createdAt: Date;
}

// A hash never seen becomes current; one that is there already changes nothing, so an old pod that restarts rolls nothing back.
// Its program is stored next to those that other compilers made of it, in the same statement: no version without a program.
const UPSERT = sql(
  'upsert_definitions',
  `WITH programs AS (
    INSERT INTO rhythm.workflow_programs (name, version, fingerprint, program)
    SELECT p.name, p.version, p.fingerprint, p.program
    FROM unnest($1::text[], $2::text[], $6::text[], $7::text[]) AS p(name, version, fingerprint, program)
    ORDER BY p.name, p.version, p.fingerprint
    ON CONFLICT (name, version, fingerprint) DO NOTHING)
  INSERT INTO rhythm.workflow_definitions (name, version, source, file, allow, allow_seen, isolate, activation)
  SELECT d.name, d.version, d.source, d.file, d.allow, jsonb_build_array(d.seen), d.isolate, nextval('rhythm.activation_seq')
  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::jsonb[], $8::jsonb[], $9::boolean[])
    AS d(name, version, source, file, allow, seen, isolate)
  ORDER BY d.name, d.version
  ON CONFLICT (name, version) DO NOTHING
  RETURNING name`,
);

const COLUMNS = `d.name, d.version, d.source, d.file, d.allow, d.isolate, d.created_at AS "createdAt",
  d.activation = (SELECT max(o.activation) FROM rhythm.workflow_definitions o WHERE o.name = d.name) AS current`;

const CURRENT_VERSION = sql(
  'current_version',
  `SELECT d.version FROM rhythm.workflow_definitions d WHERE d.name = $1 ORDER BY d.activation DESC LIMIT 1`,
);
const LIST = sql(
  'list_definitions',
  `SELECT ${COLUMNS} FROM rhythm.workflow_definitions d WHERE $1::text IS NULL OR d.name = $1 ORDER BY d.name, d.activation DESC`,
);
const PROGRAM = sql(
  'get_program',
  `SELECT p.program FROM rhythm.workflow_programs p WHERE p.name = $1 AND p.version = $2 AND p.fingerprint = $3`,
);
const NEWEST_PROGRAM = sql(
  'newest_program',
  `SELECT p.program FROM rhythm.workflow_programs p WHERE p.name = $1 AND p.version = $2
  ORDER BY p.created_at DESC, p.fingerprint LIMIT 1`,
);
const NAMES = sql('definition_names', `SELECT DISTINCT name FROM rhythm.workflow_definitions ORDER BY name`);
const ACTIVATE = sql(
  'activate_definition',
  `UPDATE rhythm.workflow_definitions SET activation = nextval('rhythm.activation_seq') WHERE name = $1 AND version = $2 RETURNING name`,
);
// A run that has begun and not ended waits, and then its first row in `waiting` counts; or its steps run in place; or it is paused. Of
// `waiting` only the index of places is read, in which equal keys are stored once.
const IN_USE = sql(
  'versions_in_use',
  `SELECT v.name, v.version, sum(v.runs)::integer AS runs FROM (
    SELECT w.workflow AS name, w.version, count(*) FILTER (WHERE w.place = 0) AS runs FROM rhythm.waiting w
    WHERE w.version IS NOT NULL GROUP BY w.workflow, w.version
    UNION ALL
    SELECT e.target_name, e.version, count(*) FROM (
      SELECT r.id, r.bucket FROM ${RUNS_WITH_STEPS}
      UNION
      SELECT m.execution_id, m.bucket FROM rhythm.marked_executions m WHERE m.status = 'paused'
    ) o JOIN rhythm.executions e ON e.id = o.id AND e.bucket = o.bucket
    WHERE e.type = 'workflow' AND e.started_at IS NOT NULL AND e.status IN ${LIVE}
      AND (SELECT 1 FROM rhythm.waiting w WHERE w.execution_id = e.id AND w.bucket = e.bucket LIMIT 1) IS NULL
    GROUP BY e.target_name, e.version
  ) v GROUP BY v.name, v.version HAVING sum(v.runs) > 0 ORDER BY v.name, v.version`,
);

/** Stores versions that are not there yet and makes them current. Returns the names that got a new version. */
export async function upsertDefinitions(db: Runner, definitions: readonly NewDefinition[]): Promise<string[]> {
  const rows = await db.rows<{ name: string }>(UPSERT, [
    definitions.map((definition) => definition.name),
    definitions.map((definition) => definition.version),
    definitions.map((definition) => definition.source),
    definitions.map((definition) => definition.file ?? null),
    definitions.map((definition) => JSON.stringify(definition.allow)),
    definitions.map((definition) => definition.fingerprint),
    definitions.map((definition) => definition.program),
    definitions.map((definition) => JSON.stringify(declarationOf(definition.allow, definition.isolate))),
    definitions.map((definition) => definition.isolate),
  ]);
  return rows.map((row) => row.name);
}

/** The version that starts without a loaded flow use. */
export async function currentVersion(db: Runner, name: string): Promise<string | undefined> {
  return (await db.rows<{ version: string }>(CURRENT_VERSION, [name]))[0]?.version;
}

/** A program of a version as `saveProgram` wrote it: the one with this fingerprint, or the one that was stored last. */
export async function getProgram(db: Runner, name: string, version: string, fingerprint?: string): Promise<string | undefined> {
  const rows = fingerprint === undefined ? db.rows(NEWEST_PROGRAM, [name, version]) : db.rows(PROGRAM, [name, version, fingerprint]);
  return ((await rows) as { program: string }[])[0]?.program;
}

/** Every version, newest activation first within a name. */
export async function listDefinitions(db: Runner, name?: string): Promise<Definition[]> {
  return db.rows<Definition>(LIST, [name ?? null]);
}

/** The names of all workflows in the database, for messages. */
export async function definitionNames(db: Runner): Promise<string[]> {
  return (await db.rows<{ name: string }>(NAMES)).map((row) => row.name);
}

/** Makes a stored version current. Returns false when there is no such version. */
export async function activateDefinition(db: Runner, name: string, version: string): Promise<boolean> {
  return (await db.rows(ACTIVATE, [name, version])).length > 0;
}

/** How many live runs each version has, among the first and the last 5,000 runs of each workflow. */
export async function versionsInUse(db: Runner): Promise<{ name: string; version: string; runs: number }[]> {
  return db.rows(IN_USE);
}
