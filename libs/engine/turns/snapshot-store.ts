// Where large states are stored outside their row: a file system, an object store.

import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keeps large snapshots. A reference, once given, must stay readable until it is removed. */
export interface SnapshotStore {
  /** Snapshots of more bytes than this go here; smaller ones stay in their row. */
  readonly thresholdBytes: number;
  /**
   * Stores a state before its turn commits, and resolves with the reference that the row keeps. Every call has a name of its own,
   * safe as a file or object name: two workers may run the same turn, and the loser must not overwrite the state that the winner's row refers to.
   */
  put(name: string, snapshot: string): Promise<string>;
  /**
   * Reads a state, as soon as its `put` has resolved, from every process. Resolves with `undefined` when the store is certain
   * that it has no such state: its run then fails, and a retry continues once the state is there again. Rejects when it cannot be
   * read now: its run waits, with a `note` about it, and is tried again after 1 s, 2 s, 4 s … and then every minute.
   */
  get(reference: string): Promise<string | undefined>;
  /** Called when the state was replaced, or when the turn that it was made for was not written; may be called twice. */
  remove(reference: string): Promise<void>;
}

/** The store has no such state. */
export class SnapshotMissingError extends Error {
  override readonly name = 'SnapshotMissingError';
  readonly code = 'RHYTHM_SNAPSHOT_MISSING';
  constructor(readonly reference: string) {
    super(
      `The state of this run is stored outside the database, and the snapshot store has no "${reference}". Restore it there, then retry the run: it continues from that state. Its events are kept until then.`,
    );
    this.stack = undefined;
  }
}

/** Snapshots as files in a folder that every worker can reach. */
export class FileSnapshotStore implements SnapshotStore {
  constructor(
    private readonly folder: string,
    readonly thresholdBytes = 64 * 1024,
  ) {}

  async put(name: string, snapshot: string): Promise<string> {
    await mkdir(this.folder, { recursive: true });
    await writeFile(join(this.folder, `${name}.json`), snapshot);
    return `${name}.json`;
  }

  async get(reference: string): Promise<string | undefined> {
    try {
      return await readFile(join(this.folder, reference), 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // Without the folder itself (a volume that is not mounted) its content is unknown.
      await stat(this.folder);
      return undefined;
    }
  }

  async remove(reference: string): Promise<void> {
    await rm(join(this.folder, reference), { force: true });
  }
}
