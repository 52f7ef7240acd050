// The error of work whose database or snapshot store cannot be reached now: it is put off and tried again.

/** How long such work waits before it is tried again. */
export const UNREACHABLE_RETRY_MS = 1_000;

/** The database or the snapshot store did not give what the work needs. Nothing is wrong with the work: it is tried again. */
export class UnreachableError extends Error {
  override readonly name: string = 'UnreachableError';
  readonly code = 'RHYTHM_UNREACHABLE';
  /** False when the work had not begun, so that it cannot itself be the reason. */
  readonly began: boolean;
  constructor(what: string, cause: unknown, { began } = { began: true }) {
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.began = began;
  }
}

/** The store of states outside the database cannot be reached: its runs wait for it, with a note about it. */
export class SnapshotStoreUnreachableError extends UnreachableError {
  override readonly name: string = 'SnapshotStoreUnreachableError';
}
