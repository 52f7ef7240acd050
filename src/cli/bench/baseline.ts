// The baseline: claim → complete with the engine's own statements and without user code. It is the upper limit.

import { hostname } from 'node:os';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { DEFAULT_ENGINE_OPTIONS } from '../../../libs/engine/index.js';
import {
  type BenchmarkRows,
  type Claim,
  claimWork,
  commitWork,
  type Link,
  loadRuns,
  newId,
  registerWorker,
  retrying,
  type Store,
  turnCommit,
  writeHeartbeat,
} from '../../../libs/store/index.js';
import type { CliContext } from '../command.js';
import { Progress } from '../progress.js';
import { enqueue } from './enqueue.js';
import type { BaselineOptions } from './options.js';

// Each carries pipelined statements of several loops; a loop waits for the database most of the time.
const CONNECTIONS = 4;
const HEARTBEAT_MS = 2_000;

/** Fills the queue, then drains it. Returns when draining started, by the database's clock. */
export async function runBaseline(store: Store, rows: BenchmarkRows, options: BaselineOptions, context: CliContext): Promise<number> {
  const { concurrency, batch } = options;
  const targets = { task: 'bench', workflow: rows.name };
  const failure = new AbortController();
  // Other workers take over the work of a worker without a heartbeat.
  await registerWorker(store.db, {
    workerId: rows.name,
    host: hostname(),
    pid: process.pid,
    queues: rows.queues,
    tasks: [targets.task],
    concurrency,
    codeVersion: DEFAULT_ENGINE_OPTIONS.codeVersion,
  });
  const heartbeat = setInterval(() => void writeHeartbeat(store.db, rows.name).catch((error) => failure.abort(error)), HEARTBEAT_MS);
  const links = Array.from({ length: Math.min(CONNECTIONS, Math.ceil(concurrency / batch)) }, () => store.link());
  try {
    await enqueue(store, rows, options, targets, context.interrupted);
    const limits = [context.interrupted, failure.signal, ...(options.duration === null ? [] : [AbortSignal.timeout(options.duration)])];
    const stop = AbortSignal.any(limits);
    const progress = new Progress(context, 'bench', options.tasks + options.workflows);
    let startedAt = Number.POSITIVE_INFINITY;
    const drain = async (link: Link, size: number) => {
      while (!stop.aborted) {
        const claim = await retrying(() => claimWork(link, rows.name, newId(), rows.queues, size));
        startedAt = Math.min(startedAt, claim.now);
        // The queue was filled before: the other loops have claimed the rest.
        if (claim.items.length === 0) return;
        await complete(link, rows.name, claim, options.workDelayUs);
        progress.add(claim.items.length);
      }
    };
    const loops = claimSizes(concurrency, batch).map((size, n) =>
      drain(links[n % links.length]!, size).catch((error) => failure.abort(error)),
    );
    await Promise.all(loops);
    progress.end();
    if (failure.signal.aborted) throw failure.signal.reason;
    return startedAt;
  } finally {
    clearInterval(heartbeat);
    await Promise.all(links.map((link) => link.close()));
  }
}

// One entry per loop; together the loops claim `concurrency` executions.
function claimSizes(concurrency: number, batch: number): number[] {
  const rest = concurrency % batch;
  return [...Array.from({ length: Math.floor(concurrency / batch) }, () => batch), ...(rest > 0 ? [rest] : [])];
}

async function complete(link: Link, workerId: string, { claimId, items, now }: Claim, delayUs: number): Promise<void> {
  const runs = items.filter(({ type }) => type === 'workflow');
  // As a worker does before a turn.
  if (runs.length > 0) await loadRuns(link, runs, runs);
  if (delayUs > 0) await pause(delayUs / 1_000);
  const ended = { status: 'completed', output: 'null', startedAt: now } as const;
  const tasks = items
    .filter(({ type }) => type === 'task')
    .map(({ id, bucket, fence, attempts }) => ({ id, bucket, fence, attempts, ...ended }));
  const turns = runs.map(({ id, bucket, fence }) => turnCommit({ id, bucket, fence, ...ended, state: { action: 'drop' } }));
  await retrying(() => commitWork(link, { workerId, tasks, turns, claims: [claimId] }));
}

// Node's timers have a resolution of a millisecond; shorter waits yield to the other loops until the time is over.
async function pause(ms: number): Promise<void> {
  const until = performance.now() + ms;
  if (ms >= 2) await setTimeout(ms - 1);
  while (performance.now() < until) await setImmediate();
}
