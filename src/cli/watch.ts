// `--watch`: repeats a command until Ctrl-C, redrawing in a terminal and printing line after line in a pipe.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../duration.js';
import type { CliContext } from './command.js';

/** The flag, for `.option(...WATCH)`. */
export const WATCH = ['--watch [every]', 'repeat every 2s (or at the given interval) until Ctrl-C'] as const;

/** Calls `show` once, or with `--watch` until it returns true or Ctrl-C is pressed. */
export async function watching(context: CliContext, watch: string | boolean | undefined, show: () => Promise<boolean>): Promise<void> {
  const everyMs = watch === undefined ? 0 : parseDuration(watch === true ? '2s' : watch, '--watch');
  for (let first = true; ; first = false) {
    if (watch && context.terminal.outIsTty && !context.flags.json) context.clear();
    else if (!first && !context.flags.json) context.print('');
    const done = await show();
    if (!watch || done) return;
    await sleep(Math.max(everyMs, 50), undefined, { signal: context.interrupted }).catch(() => undefined);
    if (context.interrupted.aborted) return;
  }
}
