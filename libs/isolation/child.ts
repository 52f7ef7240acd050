// The process of isolated flows: started by a worker, which talks to it over its standard input and output.

import { closeSync, writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { writeFrame } from './frames.js';
import { type ChildOrder, REQUEST_LIMITS, type ReadyMessage } from './messages.js';
import { type RunTurn, serve } from './serve.js';
import { WATCHDOG_SOURCE } from './watchdog.js';

const STDOUT = 1;

/** Serves the worker that started this process until its input ends or the worker does. */
export function serveWorker(runTurn?: RunTurn): void {
  const order = JSON.parse(process.argv[2]) as ChildOrder;
  process.title = 'rhythm-isolated';
  for (const descriptor of order.close) closeSync(descriptor);
  // A signal to the whole group (Ctrl-C, the stop of a service) is for the worker, which ends its turns first.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const options = { eval: true, execArgv: [], workerData: order, resourceLimits: { maxOldGenerationSizeMb: 16 } };
  const watchdog = new Worker(WATCHDOG_SOURCE, options);
  // Without it this process might outlive the worker.
  watchdog.on('error', () => process.exit(1));
  watchdog.once('online', () => {
    process.stdin.on('end', () => process.exit(0));
    process.stdin.on('error', () => process.exit(0));
    serve(process.stdin, write, runTurn);
    write(writeFrame({ head: { ready: true } satisfies ReadyMessage, texts: [] }, REQUEST_LIMITS));
  });
}

// The descriptor of a pipe may be non-blocking: then it takes no more for the moment.
function write(bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(STDOUT, bytes, at);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'EAGAIN') process.exit(0);
      Atomics.wait(PAUSE, 0, 0, 1);
    }
  }
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4));
