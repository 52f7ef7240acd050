// The error for wrong usage of a command.

import { visible } from './output.js';

/** Ends a command with exit code 2. Each argument is a line; what they quote cannot begin another one. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(...lines: string[]) {
    super(lines.map(visible).join('\n'));
  }
}
