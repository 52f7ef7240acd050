// Why the process of a turn ended, with what to do about it.

import { TurnKilledError } from './errors.js';
import type { IsolationOptions } from './options.js';
import { OUT_OF_MEMORY_SIGNAL } from './watchdog.js';

export function tookTooLong(turnTimeoutMs: number): TurnKilledError {
  return new TurnKilledError(
    'RHYTHM_ISOLATED_TIME',
    `The process that ran a turn of the flow was ended: the turn took longer than isolation.turnTimeout (${turnTimeoutMs} ms). Let the flow do less between two awaits, or raise that limit.`,
  );
}

export function outOfMemory({ memoryBytes }: IsolationOptions): TurnKilledError {
  return new TurnKilledError(
    'RHYTHM_ISOLATED_MEMORY',
    `The process that ran a turn of the flow was ended: it used more memory than isolation.memoryBytes (${memoryBytes} bytes). Let the flow keep less data, or raise that limit.`,
  );
}

export function endedByItself(why: string, signal: NodeJS.Signals | null, options: IsolationOptions): TurnKilledError {
  // V8 aborts when its heap is full, which --max-old-space-size keeps below the limit.
  if (signal === OUT_OF_MEMORY_SIGNAL || signal === 'SIGABRT') return outOfMemory(options);
  return new TurnKilledError(
    'RHYTHM_ISOLATED_ENDED',
    `The process that ran a turn of the flow ended (${why}). If the system ended it for lack of memory, lower isolation.memoryBytes or isolation.processes.`,
  );
}

export function invalidReply(what: string): TurnKilledError {
  return new TurnKilledError(
    'RHYTHM_ISOLATED_REPLY',
    `The process that ran a turn of the flow was ended: it sent something that is not the outcome of a turn (${what}). If no one has tampered with it, report this as a bug.`,
  );
}
