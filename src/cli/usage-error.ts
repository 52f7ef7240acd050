// The error for wrong usage of a command.

/** Ends a command with exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
