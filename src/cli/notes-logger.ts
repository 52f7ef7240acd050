// Nest's log of a worker on the stream for notes, so that the other one carries answers only.

import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/** Writes every level to stderr. */
export class NotesLogger extends ConsoleLogger {
  protected override printMessages(
    messages: unknown[],
    context?: string,
    level?: LogLevel,
    _stream?: 'stdout' | 'stderr',
    ...rest: unknown[]
  ): void {
    super.printMessages(messages, context, level, 'stderr', ...(rest as []));
  }
}
