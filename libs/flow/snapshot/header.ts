// What can be read of a snapshot without its program: its format, the program that it belongs to, and the calls that it waits for.

import type { PendingDescription } from './describe.js';
import { CALL_KINDS, type Json } from './format.js';
import { upgrade } from './upgrade.js';

/** What is known of a snapshot before its program is. */
export interface SnapshotHeader {
  /** NaN when the text is not a snapshot. */
  format: number;
  /** Of the program; undefined in the first format, which did not name it. */
  fingerprint: string | undefined;
}

// Every format begins like this, so that even one of a later release shows which program it needs.
const HEADER = /^\s*\[\s*(\d+)\s*(?:,\s*"([^"\\]*)")?/;

/** Reads the header; `restoreRun` checks the rest. */
export function snapshotHeader(snapshot: string): SnapshotHeader {
  const [, format, fingerprint] = HEADER.exec(snapshot) ?? [];
  return { format: Number(format), fingerprint: fingerprint || undefined };
}

/** The durable calls that a stored state waits for, read without its program. Throws FlowSnapshotError when the text is not a snapshot. */
export function pendingCalls(snapshot: string): PendingDescription[] {
  const [, , , pending] = upgrade(JSON.parse(snapshot) as Json);
  return (pending as [number, number, string][]).map(([id, kind, name]) => ({ id, kind: CALL_KINDS[kind], name }));
}
