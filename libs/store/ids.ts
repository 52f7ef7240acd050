// Execution ids: how they are made, which part of them is the root, and the bucket that a tree of runs shares.

import { crc32 } from 'node:zlib';
import { uuidv7 } from 'uuidv7';

const BUCKETS = 64;

/** A fresh id: sorted by time, so that new rows land at one end of the index. */
export function newId(): string {
  return uuidv7();
}

/** The id of the n-th durable call of a run. */
export function childId(parentId: string, call: number): string {
  return `${parentId}:${call}`;
}

/** The id of an execution that was started with an idempotency key: the same name and key give the same run. */
export function keyedId(name: string, key: string): string {
  return `key:${escapePart(name)}:${escapePart(key)}`;
}

/** The part of an id that was given (or made) at the root; what follows are the numbers of durable calls. */
export function rootOf(id: string): string {
  // Keyed ids contain two colons of their own: `key:<name>:<key>` and `cron:<schedule>:<tick>`.
  let from = 0;
  if (id.startsWith('key:') || id.startsWith('cron:')) from = id.indexOf(':', id.indexOf(':') + 1) + 1;
  const end = id.indexOf(':', from);
  return end === -1 ? id : id.slice(0, end);
}

/** Which of the 64 buckets a run and its whole tree live in. */
export function bucketOf(id: string): number {
  return crc32(rootOf(id)) % BUCKETS;
}

/** The bucket of an execution's parent or child: its own, unless the child has an id of its own choice. */
export function bucketOfRelative(relativeId: string, { id, bucket }: { id: string; bucket: number }): number {
  const [parent, child] = id.length < relativeId.length ? [id, relativeId] : [relativeId, id];
  return child.startsWith(parent) && child[parent.length] === ':' ? bucket : bucketOf(relativeId);
}

// `:` separates the parts, so inside a part it is written as %3A (and % as %25).
function escapePart(part: string): string {
  return part.replace(/[%:]/g, (char) => (char === '%' ? '%25' : '%3A'));
}
