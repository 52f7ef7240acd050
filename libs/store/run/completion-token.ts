// Tokens with which a task is completed from outside: unguessable, single use, tied to the fence, stored as a hash.

import { createHash, randomBytes } from 'node:crypto';
import { CLOCK, millis } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { bucketOf } from '../ids.js';

const STORE = sql(
  'store_token',
  `INSERT INTO rhythm.completion_tokens (execution_id, bucket, hash, fence)
  SELECT e.id, e.bucket, $3, e.fence FROM rhythm.executions e WHERE e.id = $1 AND e.bucket = $2 AND e.fence = $4 RETURNING hash`,
);

const FIND = sql(
  'find_token',
  `SELECT t.fence AS fence, e.fence = t.fence AS valid, e.status, e.attempts, e.target_name AS name, e.queue, e.parent_id AS "parentId", e.parent_call AS "parentCall",
    ${millis('coalesce(e.started_at, e.created_at)')} AS "startedAt", CASE WHEN e.attempts = 0 THEN ${millis(`${CLOCK} - e.started_at`)} END AS "runningMs"
  FROM rhythm.completion_tokens t JOIN rhythm.executions e ON e.id = t.execution_id AND e.bucket = t.bucket
  WHERE t.execution_id = $1 AND t.bucket = $2 AND t.hash = $3`,
);

/** The execution that a token may end, at the fence the token is tied to. */
export interface TokenTarget {
  id: string;
  bucket: number;
  fence: number;
  /** False when the attempt that created the token is over. */
  valid: boolean;
  status: string;
  attempts: number;
  name: string;
  queue: string;
  parentId: string | null;
  parentCall: number | null;
  startedAt: number;
  /** How long its attempt has lasted, in milliseconds; null when that is not known: only the start of the first is stored. */
  runningMs: number | null;
}

/** The secret part of a new token. */
export function newSecret(): string {
  return randomBytes(24).toString('base64url');
}

/** Makes a token for a claimed task. Returns undefined when the claim was lost. */
export async function createCompletionToken(
  db: Runner,
  item: { id: string; bucket: number; fence: number },
  secret = newSecret(),
): Promise<string | undefined> {
  const rows = await db.rows(STORE, [item.id, item.bucket, hashOf(secret), item.fence]);
  return rows.length > 0 ? `${Buffer.from(item.id).toString('base64url')}.${secret}` : undefined;
}

/** The execution of a token; undefined when it is not one of ours, or was used. */
export async function findToken(db: Runner, token: string): Promise<TokenTarget | undefined> {
  const [encoded, secret] = token.split('.');
  if (!encoded || !secret) return undefined;
  const id = Buffer.from(encoded, 'base64url').toString();
  if (id.includes('\0')) return undefined;
  const [row] = await db.rows<Omit<TokenTarget, 'id' | 'bucket'>>(FIND, [id, bucketOf(id), hashOf(secret)]);
  return row && { id, bucket: bucketOf(id), ...row };
}

function hashOf(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}
