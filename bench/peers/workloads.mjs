// The workloads: each runs in a trial of one contestant and returns its numbers.

import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from '../statistics.mjs';
import { contend, drain } from './drains.mjs';
import { claimTimes, gauged, perUnit, scaled, seconds, untilNoops, withConnection } from './gauged.mjs';
import { PAYLOAD } from './payload.mjs';
import { leftByWorkflows, storedRows } from './storage.mjs';

const PACE = 10_000;
const WARM_UP = 5_000;

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

/** Jobs that one client enqueues with a call, after a tenth as many to warm it up. */
async function enqueue(trial, count, call, ...args) {
  const client = await trial.startClient();
  const jobs = scaled(trial, count);
  await client.call(call, Math.ceil(jobs / 10), ...args);
  const result = await gauged(trial, [client], async () => ({ took: await client.call(call, jobs, ...args) }));
  return { perSecond: jobs / seconds(result.took), ...perUnit(result, jobs) };
}

/**
 * `needs` is what a contestant must support (the name of the workload by default); `full` and `quick` are amounts of work. An
 * `optional` one runs only if it is named, because it takes long.
 */
export const WORKLOADS = {
  bulk: {
    title: 'bulk enqueue, 2 lanes of 1,000',
    full: 300_000,
    quick: 60_000,
    run: (trial, count) => enqueue(trial, count, 'bulk', PAYLOAD),
  },
  single: {
    title: 'single enqueue, 50 in flight',
    full: 20_000,
    quick: 5_000,
    run: (trial, count) => enqueue(trial, count, 'single', 50, PAYLOAD),
  },
  drain1: {
    title: 'drain, 1 worker process, cold',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count }),
  },
  drain2: {
    title: 'drain, 2 worker processes, cold',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count, processes: 2 }),
  },
  drain4: {
    title: 'drain, 4 worker processes, cold',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    run: (trial, count) => drain(trial, { count, processes: 4 }),
  },
  drain1Warm: {
    title: 'drain, 1 worker process, warm',
    needs: 'drain',
    full: 240_000,
    quick: 60_000,
    run: (trial, count) => drain(trial, { count, processes: 1, warm: true }),
  },
  drain2Warm: {
    title: 'drain, 2 worker processes, warm',
    needs: 'drain',
    full: 240_000,
    quick: 60_000,
    run: (trial, count) => drain(trial, { count, processes: 2, warm: true }),
  },
  drain4Warm: {
    title: 'drain, 4 worker processes, warm',
    needs: 'drain',
    full: 240_000,
    quick: 60_000,
    run: (trial, count) => drain(trial, { count, processes: 4, warm: true }),
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
      return { perSecond: (PACE * time) / seconds(took), ...claimTimes(extra?.claimMs ?? []) };
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
  millionSteps: {
    title: 'what 50,000 workflows of 20 steps leave in the database',
    optional: true,
    full: 50_000,
    quick: 2_000,
    run: leftByWorkflows,
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

// Called after the migrations: one that builds an index concurrently would wait for the end of this transaction.
async function openTransaction(connection) {
  await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  await connection.query('SELECT txid_current()');
}
