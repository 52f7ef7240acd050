// Nest's log of a worker on stderr, so that stdout carries only results.

import { ConsoleLogger, type LogLevel } from '@nestjs/common';

/** Logs every level to stderr. */
export class StderrLogger extends ConsoleLogger {
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
