// Nest's log of a worker on stderr, so that stdout carries only results.

import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import { visible, visibleLines } from './output.js';

/** Logs every level to stderr. What a message quotes cannot control the terminal. */
export class StderrLogger extends ConsoleLogger {
  protected override stringifyMessage(message: unknown, level: LogLevel): string {
    return super.stringifyMessage(typeof message === 'string' ? visibleLines(message).join('\n') : message, level);
  }

  protected override formatContext(context: string): string {
    return super.formatContext(visible(context));
  }

  protected override printStackTrace(stack: string): void {
    if (stack) super.printStackTrace(visibleLines(stack).join('\n'));
  }

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
