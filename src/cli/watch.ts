// `--watch`: asks again and again until Ctrl-C, drawing over itself in a terminal and line after line in a pipe.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '../duration.js';
import type { CliContext } from './command.js';

/** The flag, for `.option(...WATCH)`. */
export const WATCH = ['--watch [every]', 'repeat every 2s (or at the given interval) until Ctrl-C'] as const;

const CLEAR = '\u001b[H\u001b[2J\u001b[3J';

/** Looks once, or with `--watch` until `look` answers that it is over or somebody presses Ctrl-C. */
export async function watching(context: CliContext, watch: string | boolean | undefined, look: () => Promise<boolean>): Promise<void> {
  const everyMs = watch === undefined ? 0 : parseDuration(watch === true ? '2s' : watch, '--watch');
  for (let first = true; ; first = false) {
    if (watch && context.terminal.live && !context.flags.json) context.print(CLEAR);
    else if (!first && !context.flags.json) context.print('');
    const over = await look();
    if (!watch || over) return;
    await sleep(Math.max(everyMs, 50), undefined, { signal: context.interrupted }).catch(() => undefined);
    if (context.interrupted.aborted) return;
  }
}
