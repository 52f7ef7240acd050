// Reads the flags of `rhythm bench`: what each mode takes, its defaults and its bounds.

import { checkName } from '../../check-argument.js';
import { parseDuration } from '../../duration.js';
import { readInteger } from '../read-number.js';
import { UsageError } from '../usage-error.js';

/** The flags as given. */
export interface BenchFlags {
  tasks?: string;
  workflows: string;
  payloadSize: string;
  duration?: string;
  concurrency?: string;
  batch?: string;
  workDelayUs?: string;
  workers?: string;
  computeIterations?: string;
  queues?: string;
}

/** The work of both modes. */
export interface BenchWork {
  tasks: number;
  workflows: number;
  payloadSize: number;
  /** Milliseconds after which the benchmark stops; what has not ended then counts as pending. */
  duration: number | null;
}

export interface BaselineOptions extends BenchWork {
  concurrency: number;
  batch: number;
  workDelayUs: number;
}

export interface WorkersOptions extends BenchWork {
  workers: number;
  computeIterations: number;
  queues: string[];
}

const MAX_EXECUTIONS = 10_000_000;
const BASELINE_ONLY = { concurrency: '--concurrency', batch: '--batch', workDelayUs: '--work-delay-us' } as const;
const WORKERS_ONLY = { workers: '--workers', computeIterations: '--compute-iterations', queues: '--queues' } as const;

export function readBaseline(flags: BenchFlags): BaselineOptions {
  rejectFlags(flags, WORKERS_ONLY, 'belongs to `rhythm bench worker`; the baseline has no worker processes');
  const concurrency = readInteger(flags.concurrency ?? '1000', '--concurrency', 1, 100_000);
  const batch = readInteger(flags.batch ?? String(Math.min(100, concurrency)), '--batch', 1, 5_000);
  if (batch > concurrency) {
    throw new UsageError(
      `--batch: ${batch} is more than may be claimed at the same time (--concurrency ${concurrency}). Lower --batch or raise --concurrency.`,
    );
  }
  return {
    ...readWork(flags, '10000'),
    concurrency,
    batch,
    workDelayUs: readInteger(flags.workDelayUs ?? '0', '--work-delay-us', 0, 60_000_000),
  };
}

export function readWorkers(flags: BenchFlags): WorkersOptions {
  rejectFlags(
    flags,
    BASELINE_ONLY,
    'belongs to the baseline, `rhythm bench`; worker processes take worker.concurrency and worker.claimBatch from the settings',
  );
  return {
    ...readWork(flags, '1000'),
    workers: readInteger(flags.workers ?? '10', '--workers', 1, 1_000),
    computeIterations: readInteger(flags.computeIterations ?? '0', '--compute-iterations', 0, 1_000_000_000),
    queues: readQueues(flags.queues ?? 'default'),
  };
}

function readWork({ tasks, workflows, payloadSize, duration }: BenchFlags, defaultTasks: string): BenchWork {
  const work = {
    tasks: readInteger(tasks ?? defaultTasks, '--tasks', 0, MAX_EXECUTIONS),
    workflows: readInteger(workflows, '--workflows', 0, MAX_EXECUTIONS),
    payloadSize: readInteger(payloadSize, '--payload-size', 2, 1_000_000),
    duration: duration === undefined ? null : parseDuration(duration, '--duration'),
  };
  if (work.tasks + work.workflows === 0) throw new UsageError('--tasks and --workflows are both 0: there is nothing to measure.');
  if (work.duration === 0) throw new UsageError('--duration: 0 leaves no time to measure. Give e.g. 30s.');
  return work;
}

function readQueues(text: string): string[] {
  const queues = text.split(',').map((queue) => queue.trim());
  if (queues.includes('')) throw new UsageError(`--queues: "${text}" has an empty name in it.`);
  for (const queue of queues) checkName(queue, '--queues');
  // Leaves room for the name of the run as a prefix.
  const long = queues.find((queue) => queue.length > 100);
  if (long) throw new UsageError(`--queues: "${long.slice(0, 20)}…" has ${long.length} characters; the limit is 100.`);
  const repeated = queues.find((queue, n) => queues.indexOf(queue) < n);
  if (repeated !== undefined) throw new UsageError(`--queues: "${repeated}" is given twice.`);
  return queues;
}

function rejectFlags(flags: BenchFlags, others: Partial<Record<keyof BenchFlags, string>>, why: string): void {
  for (const [key, flag] of Object.entries(others))
    if (flags[key as keyof BenchFlags] !== undefined) throw new UsageError(`${flag} ${why}.`);
}
