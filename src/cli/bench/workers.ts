// Worker mode: starts worker processes that run real tasks and workflows, and follows their progress in the database.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { type BenchmarkRows, countBenchmark, currentVersion, type Store } from '../../../libs/store/index.js';
import type { CliContext } from '../command.js';
import { Progress } from '../progress.js';
import { BENCH_TASKS } from './bench-process.js';
import { enqueue } from './enqueue.js';
import type { WorkersOptions } from './options.js';

const POLL_MS = 200;
const STOP_MS = 30_000;

/** Starts the workers, enqueues the work and waits until it has ended. The work starts when its first execution is created. */
export async function runWorkers(
  { store, url }: { store: Store; url: string },
  rows: BenchmarkRows,
  options: WorkersOptions,
  context: CliContext,
): Promise<undefined> {
  const failure = new AbortController();
  const cancelled = AbortSignal.any([context.interrupted, failure.signal]);
  const workers = Array.from({ length: options.workers }, () => start(url, rows, options, context));
  for (const worker of workers) {
    worker.once('error', (error) => failure.abort(error));
    worker.once('close', (code, signal) => failure.abort(new Error(`A worker process ended early (${signal ?? `exit code ${code}`}).`)));
  }
  try {
    await Promise.race([Promise.all(workers.map(ready)), aborted(cancelled)]);
    failure.signal.throwIfAborted();
    const stop = options.duration === null ? cancelled : AbortSignal.any([cancelled, AbortSignal.timeout(options.duration)]);
    const targets = {
      task: options.computeIterations > 0 ? BENCH_TASKS.compute : BENCH_TASKS.noop,
      workflow: rows.name,
      version: await currentVersion(store.db, rows.name),
    };
    const started = await enqueue(store, rows, options, targets, stop);
    const progress = new Progress(context, 'bench worker', options.tasks + options.workflows);
    let counted = 0;
    while (!stop.aborted && started > 0) {
      const ended = await countBenchmark(store.db, rows);
      progress.add(ended - counted);
      counted = ended;
      if (ended === started) break;
      await setTimeout(POLL_MS);
    }
    progress.end();
    failure.signal.throwIfAborted();
    return undefined;
  } finally {
    await Promise.all(workers.map(end));
  }
}

// This command starts itself, so that the workers run the same build, however it was installed.
function start(url: string, { name, queues }: BenchmarkRows, { computeIterations }: WorkersOptions, context: CliContext): ChildProcess {
  const config = context.flags.config?.file;
  const flags = ['--json', '--queues', queues.join(','), '--compute-iterations', String(computeIterations)];
  const args = [process.argv[1]!, 'bench', `process:${name}`, ...flags, ...(config === undefined ? [] : ['--config', config])];
  // In the environment, because every user of the machine can see arguments.
  return spawn(process.execPath, [...process.execArgv, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, RHYTHM_DATABASE_URL: url },
  });
}

async function ready(worker: ChildProcess): Promise<void> {
  let output = '';
  for await (const text of worker.stdout!.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text;
    if (!output.includes('\n')) continue;
    const message = JSON.parse(output) as { ok: boolean; error?: { message: string } };
    if (!message.ok) throw new Error(`A worker process could not start: ${message.error?.message}`);
    return;
  }
  throw new Error('A worker process ended before it was ready.');
}

// A worker stops when its stdin is closed, which also happens if this process is killed.
async function end(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null || worker.signalCode !== null || worker.pid === undefined) return;
  const exited = once(worker, 'exit');
  worker.stdout?.resume();
  worker.stdin?.on('error', () => undefined).end();
  const inTime = new AbortController();
  const kill = setTimeout(STOP_MS, undefined, { signal: inTime.signal }).then(
    () => worker.kill('SIGKILL'),
    () => false,
  );
  await exited;
  inTime.abort();
  await kill;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
