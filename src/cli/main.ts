#!/usr/bin/env node
// The `rhythm` command.

import 'reflect-metadata';
import { EXIT } from './command.js';
import { runCli } from './run-cli.js';

const TERMINATED = 143;
const interrupt = new AbortController();
let first: number | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    first ??= performance.now();
    if (!interrupt.signal.aborted) interrupt.abort(signal);
    // A second one means: now. (npx hands on the Ctrl-C that the terminal has sent to everyone: that is still the first.)
    else if (performance.now() - first > 1_000) process.exit(signal === 'SIGINT' ? EXIT.interrupted : TERMINATED);
  });
}

// Whoever read our output has seen enough (`rhythm list | head`).
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT.ok);
    throw error;
  });
}

void runCli(process.argv.slice(2), { out: process.stdout, err: process.stderr, in: process.stdin }, interrupt.signal).then((code) => {
  process.exitCode = code;
  // What a command left behind when it was cut off must not keep the process.
  if (interrupt.signal.aborted) process.exit(interrupt.signal.reason === 'SIGTERM' && code === EXIT.interrupted ? TERMINATED : code);
});
