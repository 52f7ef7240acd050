// The first words of a snapshot, read without the rest: its format and the program that it belongs to.

/** What is known of a snapshot before its program is. */
export interface SnapshotHeader {
  /** NaN when the text is not a snapshot. */
  format: number;
  /** Of the program; undefined in the first format, which did not name it. */
  fingerprint: string | undefined;
}

// Every format begins like this, so that also one of a later release tells which program it needs.
const HEADER = /^\s*\[\s*(\d+)\s*(?:,\s*"([^"\\]*)")?/;

/** Reads the header; whether the rest is sound is seen by `restoreRun`. */
export function snapshotHeader(snapshot: string): SnapshotHeader {
  const [, format, fingerprint] = HEADER.exec(snapshot) ?? [];
  return { format: Number(format), fingerprint: fingerprint || undefined };
}
