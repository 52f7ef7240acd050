// The workloads: each runs in a trial of one contestant and returns its numbers.

import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { percentile } from '../statistics.mjs';

export const PAYLOAD = { order: 'b3f1c2d4-0000-4000-8000-1234567890ab', amount: 1999, currency: 'EUR', note: 'thank you' };

const seconds = (nanoseconds) => Number(nanoseconds) / 1e9;
const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);

const PACE = 10_000;
const WARM_UP = 5_000;

/** The amount of work, reduced for a slow contestant. */
const SLOW = { DBOS: 0.2 };
const scaled = (trial, count) => Math.max(100, Math.round(count * (SLOW[trial.contestant.name] ?? 1)));

/** Runs `work` and adds the WAL and the CPU that it used to its result. */
async function gauged(trial, processes, work) {
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
async function untilNoops(workers, count) {
  for (;;) {
    const counters = await Promise.all(workers.map((worker) => worker.call('counters')));
    if (sum(counters.map(({ noops }) => noops)) >= count) return counters;
    await pause(10);
  }
}

/**
 * A queue that is full when the workers start: measured from the first job that runs to the last stored result. WAL includes
 * enqueueing; CPU is counted from the first job on, without the start of the process.
 */
async function drain(trial, { count, processes = 1, concurrency = 500, prepare }) {
  const client = await trial.startClient();
  await prepare?.(client);
  const jobs = scaled(trial, count);
  const workers = await Promise.all(Array.from({ length: processes }, () => trial.startProcess()));
  const { wal, ...result } = await gauged(trial, workers, async () => {
    await client.call('bulk', jobs, PAYLOAD);
    const before = trial.gauges.serverCpu(trial.contestant.store);
    await Promise.all(workers.map((worker) => worker.call('openWorkers', trial.url, { concurrency })));
    const counters = (await untilNoops(workers, jobs)).filter(({ noops }) => noops > 0);
    const until = await client.call('untilDone', 'noop');
    const from = counters.map(({ firstAt }) => BigInt(firstAt)).reduce((least, firstAt) => (firstAt < least ? firstAt : least));
    const drained = trial.gauges.serverCpu(trial.contestant.store) - before;
    return { rate: jobs / seconds(BigInt(until) - from), drained, bootCpu: sum(counters.map(({ firstCpu }) => cpuSeconds(firstCpu))) };
  });
  const extra = (await Promise.all(workers.map((worker) => worker.call('usage')))).map((usage) => usage.extra);
  return {
    perSecond: result.rate,
    ...perUnit({ wal, serverCpu: result.drained, nodeCpu: result.nodeCpu + result.nodeCpuBefore - result.bootCpu }, jobs),
    ...claimTimes(extra),
  };
}

/** A backlog that appears in one commit, for workers that are running, idle and warm. */
async function contend(trial, jobs, loopsEach) {
  const client = await trial.startClient();
  const workers = await trial.startWorkers(4, { count: loopsEach, connections: 1, concurrency: 100 });
  const rate = async (count, before) => {
    await client.call('hold', trial.url, count, PAYLOAD);
    await pause(1_000);
    const startedAt = process.hrtime.bigint();
    await client.call('release');
    await untilNoops(workers, before + count);
    return count / seconds(BigInt(await client.call('untilDone', 'noop')) - startedAt);
  };
  await rate(jobs, 0);
  const { measured, ...used } = await gauged(trial, workers, async () => ({ measured: await rate(jobs, jobs) }));
  return { perSecond: measured, ...perUnit({ ...used, wal: 0 }, jobs) };
}

const cpuSeconds = ({ user, system }) => (user + system) / 1e6;

function perUnit({ wal, serverCpu, nodeCpu }, units) {
  const micro = (value) => (value === undefined || Number.isNaN(value) ? undefined : (value * 1e6) / units);
  return { walBytes: wal > 0 ? wal / units : undefined, serverMicros: micro(serverCpu), nodeMicros: micro(nodeCpu) };
}

function claimTimes(extra) {
  const all = extra.flatMap((each) => each?.claimMs ?? []);
  return all.length > 0 ? { claimP99: percentile(all, 0.99) } : {};
}

/** Workflows on workers that are already running: measured from the first start to the last stored result. */
async function workflows(trial, kind, { count, inFlight, stepsEach, countRows = false }) {
  const client = await trial.startClient();
  // More than there are runs in flight, so that no contestant is at its limit.
  const workers = await trial.startWorkers(1, { concurrency: 1_000 });
  // A second or two of the same kind of work warms up plans, caches and V8's optimised code.
  await client.call('workflows', 'steps5', scaled(trial, WARM_UP), 500);
  // So that no autovacuum of the warm-up writes WAL during the measurement.
  await withConnection(trial, (connection) => connection.query('VACUUM ANALYZE'));
  const before = countRows && (await storedRows(trial));
  // Not scaled: a single run, and workloads that measure a given number of runs.
  const runs = inFlight === 1 || stepsEach === 0 ? count : scaled(trial, count);
  const result = await gauged(trial, workers, async () => ({ took: await client.call('workflows', kind, runs, inFlight) }));
  const units = runs * Math.max(stepsEach, 1);
  const rate = { perSecond: units / seconds(result.took), ...perUnit(result, units), seconds: seconds(result.took) };
  if (!countRows) return rate;
  const after = await storedRows(trial);
  return { ...rate, keptRows: after.rows - before.rows, keptBytes: after.bytes - before.bytes };
}

/** One job at a time on an idle worker. */
async function pickupTimes(trial, count) {
  const client = await trial.startClient();
  const [worker] = await trial.startWorkers(1, { concurrency: 50 });
  for (let n = 1; n <= count; n++) {
    await client.call('pickup');
    while ((await worker.call('counters')).pickups.length < n) await pause(1);
    // So that the worker has written the result and is idle before the next job.
    await pause(10 + (n % 7));
  }
  const warm = (await worker.call('counters')).pickups.slice(Math.ceil(count / 10));
  return { p50: percentile(warm, 0.5), p99: percentile(warm, 0.99) };
}

/** Jobs that one client enqueues with a call, after a short warm-up. */
async function enqueue(trial, count, call, ...args) {
  const client = await trial.startClient();
  const jobs = scaled(trial, count);
  await client.call(call, 200, ...args);
  const result = await gauged(trial, [client], async () => ({ took: await client.call(call, jobs, ...args) }));
  return { perSecond: jobs / seconds(result.took), ...perUnit(result, jobs) };
}

/** `needs` is what a contestant must support (the name of the workload by default); `full` and `quick` are amounts of work. */
export const WORKLOADS = {
  bulk: {
    title: 'bulk enqueue',
    full: 50_000,
    quick: 10_000,
    run: (trial, count) => enqueue(trial, count, 'bulk', PAYLOAD),
  },
  single: {
    title: 'single enqueue, 50 in flight',
    full: 20_000,
    quick: 5_000,
    run: (trial, count) => enqueue(trial, count, 'single', 50, PAYLOAD),
  },
  drain1: {
    title: 'drain, 1 worker process',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count }),
  },
  drain2: {
    title: 'drain, 2 worker processes',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count, processes: 2 }),
  },
  drain4: {
    title: 'drain, 4 worker processes',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count, processes: 4 }),
  },
  paced: {
    title: '10,000 tasks per second, arriving evenly',
    needs: 'paced',
    full: 10,
    quick: 3,
    async run(trial, time) {
      const client = await trial.startClient();
      const workers = await trial.startWorkers(1, { concurrency: 500 });
      await client.call('paced', PACE, 1, PAYLOAD);
      const startedAt = process.hrtime.bigint();
      await client.call('paced', PACE, time, PAYLOAD);
      await untilNoops(workers, PACE * (time + 1));
      const took = BigInt(await client.call('untilDone', 'noop')) - startedAt;
      const { extra } = await workers[0].call('usage');
      return { perSecond: (PACE * time) / seconds(took), ...claimTimes([extra]) };
    },
  },
  pickup: { title: 'pickup on an idle worker', full: 400, quick: 100, run: pickupTimes },
  steps5: {
    title: 'workflows of 5 steps, 500 in flight',
    full: 15_000,
    quick: 5_000,
    run: (trial, count) => workflows(trial, 'steps5', { count, inFlight: 500, stepsEach: 5 }),
  },
  steps20: {
    title: 'workflows of 20 steps, 500 in flight',
    full: 4_000,
    quick: 1_000,
    run: (trial, count) => workflows(trial, 'steps20', { count, inFlight: 500, stepsEach: 20 }),
  },
  parallel10: {
    title: 'workflows of 10 parallel steps, 100 in flight',
    full: 2_000,
    quick: 500,
    run: (trial, count) => workflows(trial, 'parallel10', { count, inFlight: 100, stepsEach: 10 }),
  },
  sleepers: {
    title: '1,000 workflows that sleep 1 s, started at once',
    full: 1_000,
    quick: 1_000,
    run: async (trial) => {
      const { seconds: took, ...rest } = await workflows(trial, 'sleepers', {
        count: 1_000,
        inFlight: Number.MAX_SAFE_INTEGER,
        stepsEach: 0,
      });
      return { ...rest, lateSeconds: took - 1 };
    },
  },
  loop: {
    title: 'one workflow, 10,000 awaits',
    full: 10_000,
    quick: 10_000,
    run: (trial, count) => workflows(trial, 'loop', { count: 1, inFlight: 1, stepsEach: count, countRows: true }),
  },
  fanout: {
    title: 'fan-out of 10,000',
    full: 10_000,
    quick: 10_000,
    run: (trial, count) => workflows(trial, 'fanout', { count: 1, inFlight: 1, stepsEach: count }),
  },
  contend1: {
    title: 'drain, 4 worker loops on a backlog that appears at once',
    needs: 'contend',
    full: 60_000,
    quick: 20_000,
    run: (trial, jobs) => contend(trial, jobs, 1),
  },
  contend: {
    title: 'drain, 100 worker loops on a backlog that appears at once',
    full: 60_000,
    quick: 20_000,
    run: (trial, jobs) => contend(trial, jobs, 25),
  },
  withFinished: {
    title: 'drain with 1,000,000 finished tasks in the tables',
    needs: 'prefill',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count, prepare: (client) => client.call('prefill', trial.url, 'finished', 1_000_000, PAYLOAD) }),
  },
  withPending: {
    title: 'drain with 100,000 pending tasks in another queue',
    needs: 'prefill',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count, prepare: (client) => client.call('prefill', trial.url, 'pending', 100_000, PAYLOAD) }),
  },
  longTransaction: {
    title: 'drain while a long transaction holds back vacuum',
    needs: 'drain',
    postgres: true,
    full: 40_000,
    quick: 20_000,
    run: (trial, count) => withConnection(trial, (connection) => drain(trial, { count, prepare: () => openTransaction(connection) })),
  },
  idle: {
    title: 'an idle worker for 10 s',
    full: 10,
    quick: 10,
    run: async (trial, time) => {
      await trial.startClient();
      await trial.startWorkers(1, { concurrency: 50 });
      await pause(2_000);
      const before = await trial.gauges.transactions(trial.database);
      await pause(time * 1_000);
      return { queriesPerSecond: ((await trial.gauges.transactions(trial.database)) - before) / time };
    },
  },
};

/** Calls `work` with a separate connection to the database of the trial. */
async function withConnection(trial, work) {
  const connection = new pg.Client({ connectionString: trial.url });
  await connection.connect();
  try {
    return await work(connection);
  } finally {
    await connection.end();
  }
}

// Called after the migrations: one that builds an index concurrently would wait for the end of this transaction.
async function openTransaction(connection) {
  await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await connection.query('SELECT txid_current()');
}

/** Rows in all tables of the database, and their bytes. */
function storedRows(trial) {
  return withConnection(trial, async (connection) => {
    const { rows: tables } = await connection.query(
      `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    let rows = 0;
    let bytes = 0;
    for (const { name } of tables) {
      const { rows: found } = await connection.query(
        `SELECT count(*)::int AS n, coalesce(sum(pg_column_size(t.*)), 0)::bigint AS bytes FROM ${name} t`,
      );
      rows += found[0].n;
      bytes += Number(found[0].bytes);
    }
    return { rows, bytes };
  });
}
