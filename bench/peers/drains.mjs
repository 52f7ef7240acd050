// Drains: a full queue that workers empty, with workers that have just started or that are warm.

import { setTimeout as pause } from 'node:timers/promises';
import { claimTimes, cpuSeconds, gauged, perUnit, scaled, seconds, untilNoops, withConnection } from './gauged.mjs';
import { PAYLOAD } from './payload.mjs';

// V8 has optimised the code of every contestant after this many jobs per process.
const WARM_UP_EACH = 10_000;
// A warm drain takes several seconds for everybody, and not minutes for the slow ones.
const SLOW_TO_DRAIN = { DBOS: 0.1, 'pg-boss': 0.25, BullMQ: 0.5 };

/**
 * A queue that is full when the workers start: measured from the first job that runs to the last stored result. WAL includes
 * enqueueing; CPU is counted from the first job on, without the start of the process. With `warm`, the worker processes have run
 * jobs of the same kind before and are idle while the queue is filled, and the tables have statistics.
 */
export async function drain(trial, { count, processes = 1, concurrency = 500, prepare, warm = false }) {
  const client = await trial.startClient();
  await prepare?.(client);
  const jobs = warm ? scaled(trial, count, SLOW_TO_DRAIN) : scaled(trial, count);
  const workers = await Promise.all(Array.from({ length: processes }, () => trial.startProcess()));
  const open = () => Promise.all(workers.map((worker) => worker.call('openWorkers', trial.url, { concurrency })));
  if (warm) await warmUp(trial, { client, workers, open });
  const claimsBefore = await claimsOf(workers);
  const { wal, ...result } = await gauged(trial, workers, async () => {
    await client.call('bulk', jobs, PAYLOAD);
    // As autovacuum does where a database is in use. Without statistics, Graphile Worker drains 45,000 instead of 86,000 jobs per
    // second with two processes, and pg-boss 12,000 instead of 36,000.
    if (warm) await sql(trial, 'ANALYZE');
    const before = trial.gauges.serverCpu(trial.contestant.store);
    await open();
    const counters = (await untilNoops(workers, jobs)).filter(({ noops }) => noops > 0);
    const until = await client.call('untilDone', 'noop');
    const from = counters.map(({ firstAt }) => BigInt(firstAt)).reduce((least, firstAt) => (firstAt < least ? firstAt : least));
    const drained = trial.gauges.serverCpu(trial.contestant.store) - before;
    return {
      rate: jobs / seconds(BigInt(until) - from),
      drained,
      bootCpu: counters.reduce((s, { firstCpu }) => s + cpuSeconds(firstCpu), 0),
    };
  });
  const claims = (await claimsOf(workers)).flatMap((each, n) => each.slice(claimsBefore[n].length));
  return {
    perSecond: result.rate,
    ...perUnit({ wal, serverCpu: result.drained, nodeCpu: result.nodeCpu + result.nodeCpuBefore - result.bootCpu }, jobs),
    ...claimTimes(claims),
  };
}

// Not every contestant can hold back a backlog that it has enqueued itself (DBOS enqueues on its own connections), but each can
// close its workers and open them again in the same process, where its code stays optimised.
async function warmUp(trial, { client, workers, open }) {
  const jobs = scaled(trial, WARM_UP_EACH * workers.length, SLOW_TO_DRAIN);
  await open();
  await client.call('bulk', jobs, PAYLOAD);
  await untilNoops(workers, jobs);
  await client.call('untilDone', 'noop');
  await Promise.all(workers.map((worker) => worker.call('closeWorkers')));
  // So that no autovacuum of the warm-up works during the measurement.
  await sql(trial, 'VACUUM');
}

/** A backlog that appears in one commit, for workers that are running, idle and warm. */
export async function contend(trial, jobs, loopsEach) {
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

function claimsOf(workers) {
  return Promise.all(workers.map(async (worker) => (await worker.call('usage')).extra?.claimMs ?? []));
}

async function sql(trial, statement) {
  if (trial.contestant.store === 'postgres') await withConnection(trial, (connection) => connection.query(statement));
}
