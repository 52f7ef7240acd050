// What the caller of a command got wrong.

/** Ends a command with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
