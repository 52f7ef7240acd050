// What is left of removed runs with chosen ids: read by a start of the same id, and deleted when they are old.

import { CLOCK } from '../clock.js';
import { type Runner, sql } from '../connect/statement.js';
import { bucketOf } from '../ids.js';

/** A removed run. */
export interface Tombstone {
  id: string;
  type: string;
  target_name: string;
  input_hash: string;
}

const read = (name: string, lock: string) =>
  sql(
    name,
    `SELECT t.id, t.type, t.target_name, t.input_hash FROM unnest($1::text[], $2::smallint[]) AS d(id, bucket)
  JOIN rhythm.tombstones t ON t.id = d.id AND t.bucket = d.bucket ${lock}`,
  );
const READ = read('read_tombstones', '');
// The result of a start in a caller's transaction is still true when it commits.
const LOCK = read('lock_tombstones', 'FOR KEY SHARE OF t');

const EXPIRE = sql(
  'expire_tombstones',
  `DELETE FROM rhythm.tombstones WHERE ctid = ANY(ARRAY(
    SELECT t.ctid FROM rhythm.tombstones t WHERE t.removed_at < ${CLOCK} - $1::float8 * interval '1 millisecond'
    ORDER BY t.removed_at LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING id`,
);

/** The tombstones of these ids. `inTransaction`: they are kept until the caller's transaction ends. */
export async function readTombstones(db: Runner, ids: readonly string[], inTransaction = false): Promise<Tombstone[]> {
  return db.rows<Tombstone>(inTransaction ? LOCK : READ, [ids, ids.map(bucketOf)]);
}

const FORGET = sql('forget_tombstone', 'DELETE FROM rhythm.tombstones WHERE id = $1 AND bucket = $2');

/** Deletes the tombstone of an id, which is to be started again. */
export async function forgetTombstone(db: Runner, id: string): Promise<void> {
  await db.rows(FORGET, [id, bucketOf(id)]);
}

/** Deletes tombstones older than this, oldest first. Returns how many. */
export async function expireTombstones(db: Runner, ageMs: number, limit: number): Promise<number> {
  return (await db.rows(EXPIRE, [ageMs, limit])).length;
}
