// Runs a command line in the process of the spec, without the half second that a process takes to start.

import { PassThrough } from 'node:stream';
import { runCli } from '../../src/cli/run-cli.js';
import type { Ended } from './spawn-cli.js';

/** The same outcome as from a process whose output goes to pipes; settings come from this process's environment. */
export async function callRhythm(args: readonly string[]): Promise<Ended> {
  const out = new PassThrough({ encoding: 'utf8' });
  const err = new PassThrough({ encoding: 'utf8' });
  const code = await runCli(args, { out, err });
  return { code, out: out.read() ?? '', err: err.read() ?? '' };
}
