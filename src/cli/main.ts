#!/usr/bin/env node
// The `rhythm` command.

import 'reflect-metadata';
import { EXIT } from './command.js';
import { runCli } from './run-cli.js';

const TERMINATED = 143;
const interrupt = new AbortController();
let interruptedAt: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    interruptedAt ??= performance.now();
    if (!interrupt.signal.aborted) interrupt.abort(signal);
    // A second one ends the process at once. (npx forwards the Ctrl-C that the terminal has already sent to every process: not a second one.)
    else if (performance.now() - interruptedAt > 1_000) process.exit(signal === 'SIGINT' ? EXIT.interrupted : TERMINATED);
  });
}

// The reader of our output has closed the pipe (`rhythm list | head`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    // A full disk, a terminal that is gone. What the command has done is done; only its output is lost.
    if (stream === process.stdout) process.stderr.write(`error: The output cannot be written: ${error.message}\n`);
    process.exit(EXIT.failed);
  });
}

void runCli(process.argv.slice(2), { out: process.stdout, err: process.stderr, in: process.stdin }, interrupt.signal).then((code) => {
  process.exitCode = code;
  // What an interrupted command left open must not keep the process alive.
  if (interrupt.signal.aborted) process.exit(interrupt.signal.reason === 'SIGTERM' && code === EXIT.interrupted ? TERMINATED : code);
});
