// The results of a benchmark, from timestamps of the database: counts, throughput and latency, separately for tasks and workflows.

import type { BenchmarkTime } from '../../../libs/store/index.js';

/** The share of executions that ended first and is left out of throughput and latency. */
export const WARM_UP = 0.1;

/** The results for executions of one type. */
export interface Measured {
  total: number;
  completed: number;
  failed: number;
  pending: number;
  /** Completed per second, after the warm-up; null when nothing completed. */
  perSecond: number | null;
  /** Completed per second from the start of the work to the last completion: lower, because it includes the warm-up. */
  overallPerSecond: number | null;
  /** Milliseconds from creation to completion, after the warm-up. */
  latencyMs: { p50: number; p95: number; p99: number } | null;
}

/** Measures one type; `startedAt` is when the work started, in milliseconds of the database's clock. */
export function measure(times: readonly BenchmarkTime[], type: BenchmarkTime['type'], startedAt: number): Measured {
  const own = times.filter((time) => time.type === type);
  const done = own.filter((time) => time.status === 'completed').sort((a, b) => a.finishedAt! - b.finishedAt!);
  const failed = own.filter(({ status }) => status === 'failed' || status === 'cancelled').length;
  const counts = { total: own.length, completed: done.length, failed, pending: own.length - done.length - failed };
  if (done.length === 0) return { ...counts, perSecond: null, overallPerSecond: null, latencyMs: null };
  const warmUp = Math.floor(done.length * WARM_UP);
  const latencies = done
    .slice(warmUp)
    .map(({ createdAt, finishedAt }) => finishedAt! - createdAt)
    .sort((a, b) => a - b);
  const overallPerSecond = rate(done.length, startedAt, done.at(-1)!.finishedAt!);
  // If one commit ended them all, there is no warm-up to leave out.
  const perSecond = throughput(done, warmUp, startedAt) ?? overallPerSecond;
  return { ...counts, perSecond, overallPerSecond, latencyMs: percentiles(latencies) };
}

// A group commit gives many executions the same time: only those that ended after the last one of the warm-up count.
function throughput(done: readonly BenchmarkTime[], warmUp: number, startedAt: number): number | null {
  const last = done.at(-1)!.finishedAt!;
  const from = warmUp === 0 ? startedAt : done[warmUp - 1]!.finishedAt!;
  return rate(done.filter(({ finishedAt }) => finishedAt! > from).length, from, last);
}

function rate(n: number, from: number, to: number): number | null {
  return to > from ? (n * 1_000) / (to - from) : null;
}

function percentiles(sorted: readonly number[]): Measured['latencyMs'] {
  // The nearest rank, which is always a measured latency.
  const at = (share: number) => Math.round(sorted[Math.ceil(sorted.length * share) - 1]! * 1_000) / 1_000;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
