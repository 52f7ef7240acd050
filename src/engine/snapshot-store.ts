// The seam for state that lives outside its row: a file system, an object store.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Keeps large snapshots. A reference, once given, must stay readable until it is removed. */
export interface SnapshotStore {
  /** Snapshots of more bytes than this go here; smaller ones stay in their row. */
  readonly thresholdBytes: number;
  /**
   * Stores before the turn commits; answers the reference that the row keeps. Every call has a name of its own, safe as a file
   * or object name: two workers may run the same turn, and the loser must not write over what the winner's row names.
   */
  put(name: string, snapshot: string): Promise<string>;
  get(reference: string): Promise<string>;
  /** Called after the commit that replaced it, or that it was made for in vain; may be called twice. */
  remove(reference: string): Promise<void>;
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

  async get(reference: string): Promise<string> {
    return readFile(join(this.folder, reference), 'utf8');
  }

  async remove(reference: string): Promise<void> {
    await rm(join(this.folder, reference), { force: true });
  }
}
