// What a measurement uses: WAL, CPU, counters of the workers, and connections of its own to the database of a trial.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { percentile } from '../statistics.mjs';

export const seconds = (nanoseconds) => Number(nanoseconds) / 1e9;
export const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);
export const cpuSeconds = ({ user, system }) => (user + system) / 1e6;

const SLOW = { DBOS: 0.2 };

/** The amount of work, reduced for slow contestants by the given factors. */
export function scaled(trial, count, factors = SLOW) {
  return Math.max(100, Math.round(count * (factors[trial.contestant.name] ?? 1)));
}

/** Runs `work` and adds the WAL and the CPU that it used to its result. */
export async function gauged(trial, processes, work) {
  const { gauges, contestant } = trial;
  if (contestant.store === 'postgres') await gauges.checkpoint();
  const before = await readGauges(trial, processes);
  const result = await work();
  const after = await readGauges(trial, processes);
  return {
    ...result,
    wal: after.wal - before.wal,
    serverCpu: after.serverCpu - before.serverCpu,
    nodeCpu: after.nodeCpu - before.nodeCpu,
    nodeCpuBefore: before.nodeCpu,
  };
}

async function readGauges({ gauges, contestant }, processes) {
  const usages = await Promise.all(processes.map((each) => each.call('usage')));
  return {
    wal: contestant.store === 'postgres' ? await gauges.wal() : 0,
    serverCpu: gauges.serverCpu(contestant.store),
    nodeCpu: sum(usages.map(({ cpu }) => cpuSeconds(cpu))),
  };
}

/** Waits until the workers have run this many noops, and returns their counters. */
export async function untilNoops(workers, count) {
  for (;;) {
    const counters = await Promise.all(workers.map((worker) => worker.call('counters')));
    if (sum(counters.map(({ noops }) => noops)) >= count) return counters;
    await pause(10);
  }
}

export function perUnit({ wal, serverCpu, nodeCpu }, units) {
  const micro = (value) => (value === undefined || Number.isNaN(value) ? undefined : (value * 1e6) / units);
  return { walBytes: wal > 0 ? wal / units : undefined, serverMicros: micro(serverCpu), nodeMicros: micro(nodeCpu) };
}

/** The p99 of claims in milliseconds, if the contestant reports them. */
export function claimTimes(claims) {
  return claims.length > 0 ? { claimP99: percentile(claims, 0.99) } : {};
}

/** Calls `work` with a separate connection to the database of the trial. */
export async function withConnection(trial, work) {
  const connection = new pg.Client({ connectionString: trial.url });
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}
