// What is measured: each workload plays one contestant on a fresh stage and answers its numbers.

export const PAYLOAD = { order: 'b3f1c2d4-0000-4000-8000-1234567890ab', amount: 1999, currency: 'EUR', note: 'thank you' };

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const seconds = (nanoseconds) => Number(nanoseconds) / 1e9;
const sum = (numbers) => numbers.reduce((total, n) => total + n, 0);

const PACE = 10_000;
const WARM_UP = 5_000;

/** How much work a measurement has: enough for the fast, not endless for the slow. */
const SLOW = { DBOS: 0.2 };
const scaled = (stage, count) => Math.max(100, Math.round(count * (SLOW[stage.contestant.name] ?? 1)));

/** Measures WAL and CPU around a piece of work. */
async function gauged(stage, actors, work) {
  const { gauges, contestant } = stage;
  if (contestant.store === 'postgres') await gauges.checkpoint();
  const before = await reading(stage, actors);
  const answer = await work();
  const after = await reading(stage, actors);
  return {
    ...answer,
    wal: after.wal - before.wal,
    serverCpu: after.serverCpu - before.serverCpu,
    nodeCpu: after.nodeCpu - before.nodeCpu,
    nodeCpuBefore: before.nodeCpu,
  };
}

async function reading({ gauges, contestant }, actors) {
  const usages = await Promise.all(actors.map((actor) => actor.call('usage')));
  return {
    wal: contestant.store === 'postgres' ? await gauges.wal() : 0,
    serverCpu: gauges.serverCpu(contestant.store),
    nodeCpu: sum(usages.map(({ cpu }) => cpuSeconds(cpu))),
  };
}

async function noops(actors, wanted) {
  for (;;) {
    const seen = await Promise.all(actors.map((actor) => actor.call('seen')));
    if (sum(seen.map(({ noops: n }) => n)) >= wanted) return seen;
    await pause(10);
  }
}

/**
 * A queue that is full when the workers come: from the first job that runs to the last result stored. WAL is counted over
 * the whole life of a job, its enqueueing included; CPU from the first job on, without the start of the process.
 */
async function drain(stage, { count, processes = 1, concurrency = 500, prepare, worker = {} }) {
  const client = await stage.client();
  await prepare?.(client);
  const jobs = scaled(stage, count);
  const actors = await Promise.all(Array.from({ length: processes }, () => stage.actor()));
  const { wal, ...result } = await gauged(stage, actors, async () => {
    await client.call('bulk', jobs, PAYLOAD);
    const before = stage.gauges.serverCpu(stage.contestant.store);
    await Promise.all(actors.map((actor) => actor.call('openWorkers', stage.url, { concurrency, ...worker })));
    const seen = (await noops(actors, jobs)).filter(({ noops: n }) => n > 0);
    const until = await client.call('untilDone', 'noop');
    const from = seen.map(({ first }) => BigInt(first)).reduce((least, first) => (first < least ? first : least));
    const drained = stage.gauges.serverCpu(stage.contestant.store) - before;
    return { rate: jobs / seconds(BigInt(until) - from), drained, bootCpu: sum(seen.map(({ firstCpu }) => cpuSeconds(firstCpu))) };
  });
  const extra = (await Promise.all(actors.map((actor) => actor.call('usage')))).map((usage) => usage.extra);
  return {
    perSecond: result.rate,
    ...perUnit({ wal, serverCpu: result.drained, nodeCpu: result.nodeCpu + result.nodeCpuBefore - result.bootCpu }, jobs),
    ...claimTimes(extra),
  };
}

/** Workers that are all up, idle and warm when the backlog appears at once, in one commit. */
async function contend(stage, jobs, loopsEach) {
  const client = await stage.client();
  const actors = await stage.workers(4, { count: loopsEach, connections: 1, concurrency: 100 });
  const rate = async (count, before) => {
    await client.call('hold', stage.url, count, PAYLOAD);
    await pause(1_000);
    const began = process.hrtime.bigint();
    await client.call('release');
    await noops(actors, before + count);
    return count / seconds(BigInt(await client.call('untilDone', 'noop')) - began);
  };
  await rate(jobs, 0);
  const { measured, ...used } = await gauged(stage, actors, async () => ({ measured: await rate(jobs, jobs) }));
  return { perSecond: measured, ...perUnit({ ...used, wal: 0 }, jobs) };
}

const cpuSeconds = ({ user, system }) => (user + system) / 1e6;

function perUnit({ wal, serverCpu, nodeCpu }, units) {
  const micro = (value) => (value === undefined || Number.isNaN(value) ? undefined : (value * 1e6) / units);
  return { walBytes: wal > 0 ? wal / units : undefined, serverMicros: micro(serverCpu), nodeMicros: micro(nodeCpu) };
}

function claimTimes(extra) {
  const all = extra.flatMap((one) => one?.claimMs ?? []).sort((a, b) => a - b);
  return all.length > 0 ? { claimP99: percentile(all, 0.99) } : {};
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** Workflows on workers that are up already: from the first start to the last result stored. */
async function workflows(stage, kind, { count, inFlight, stepsEach, leaves = false }) {
  const client = await stage.client();
  // More room than there are runs in flight: nobody is measured at the edge of a limit.
  const workers = await stage.workers(1, { concurrency: 1_000 });
  // Plans, caches and V8's optimised code of everybody are warm: the same kind of work, for a second or two.
  await client.call('workflows', 'steps5', scaled(stage, WARM_UP), 500);
  // No autovacuum of what that left writes its WAL into the measurement.
  await connected(stage, (client) => client.query('VACUUM ANALYZE'));
  const before = leaves && (await kept(stage));
  // A single run is what it is, and so is a crowd whose size is the question.
  const runs = inFlight === 1 || stepsEach === 0 ? count : scaled(stage, count);
  const result = await gauged(stage, workers, async () => ({ took: await client.call('workflows', kind, runs, inFlight) }));
  const units = runs * Math.max(stepsEach, 1);
  const rate = { perSecond: units / seconds(result.took), ...perUnit(result, units), seconds: seconds(result.took) };
  if (!leaves) return rate;
  const after = await kept(stage);
  return { ...rate, keptRows: after.rows - before.rows, keptBytes: after.bytes - before.bytes };
}

const latencies = async (stage, { count }) => {
  const client = await stage.client();
  const [worker] = await stage.workers(1, { concurrency: 50 });
  for (let n = 1; n <= count; n++) {
    await client.call('pickup');
    while ((await worker.call('seen')).pickups.length < n) await pause(1);
    // The worker has written the result and come to rest before the next one comes.
    await pause(10 + (n % 7));
  }
  const warm = (await worker.call('seen')).pickups.slice(Math.ceil(count / 10)).sort((a, b) => a - b);
  return { p50: percentile(warm, 0.5), p99: percentile(warm, 0.99) };
};

/** Each: who must be able to do it, and how it is played; `full` and `quick` are the amounts of work. */
export const WORKLOADS = {
  bulk: {
    title: 'bulk enqueue',
    full: 50_000,
    quick: 10_000,
    async play(stage, count) {
      const client = await stage.client();
      const jobs = scaled(stage, count);
      await client.call('bulk', 200, PAYLOAD);
      const result = await gauged(stage, [client], async () => ({ took: await client.call('bulk', jobs, PAYLOAD) }));
      return { perSecond: jobs / seconds(result.took), ...perUnit(result, jobs) };
    },
  },
  single: {
    title: 'single enqueue, 50 in flight',
    full: 20_000,
    quick: 5_000,
    async play(stage, count) {
      const client = await stage.client();
      const jobs = scaled(stage, count);
      await client.call('single', 200, 50, PAYLOAD);
      const result = await gauged(stage, [client], async () => ({ took: await client.call('single', jobs, 50, PAYLOAD) }));
      return { perSecond: jobs / seconds(result.took), ...perUnit(result, jobs) };
    },
  },
  drain1: {
    title: 'drain, 1 worker process',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    play: (stage, count) => drain(stage, { count }),
  },
  drain2: {
    title: 'drain, 2 worker processes',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    play: (stage, count) => drain(stage, { count, processes: 2 }),
  },
  drain4: {
    title: 'drain, 4 worker processes',
    needs: 'drain',
    full: 60_000,
    quick: 20_000,
    play: (stage, count) => drain(stage, { count, processes: 4 }),
  },
  paced: {
    title: '10,000 tasks per second, as they come',
    needs: 'paced',
    full: 10,
    quick: 3,
    async play(stage, time) {
      const client = await stage.client();
      const workers = await stage.workers(1, { concurrency: 500 });
      await client.call('paced', PACE, 1, PAYLOAD);
      const began = process.hrtime.bigint();
      await client.call('paced', PACE, time, PAYLOAD);
      await noops(workers, PACE * (time + 1));
      const took = BigInt(await client.call('untilDone', 'noop')) - began;
      const { extra } = await workers[0].call('usage');
      return { perSecond: (PACE * time) / seconds(took), ...claimTimes([extra]) };
    },
  },
  pickup: { title: 'pickup on an idle worker', full: 400, quick: 100, play: (stage, count) => latencies(stage, { count }) },
  steps5: {
    title: 'workflows of 5 steps, 500 in flight',
    full: 15_000,
    quick: 5_000,
    play: (stage, count) => workflows(stage, 'steps5', { count, inFlight: 500, stepsEach: 5 }),
  },
  steps20: {
    title: 'workflows of 20 steps, 500 in flight',
    full: 4_000,
    quick: 1_000,
    play: (stage, count) => workflows(stage, 'steps20', { count, inFlight: 500, stepsEach: 20 }),
  },
  parallel10: {
    title: 'workflows of 10 steps side by side, 100 in flight',
    full: 2_000,
    quick: 500,
    play: (stage, count) => workflows(stage, 'parallel10', { count, inFlight: 100, stepsEach: 10 }),
  },
  sleepers: {
    title: '1,000 sleepers of 1 s, all at once',
    full: 1_000,
    quick: 1_000,
    play: async (stage) => {
      const { seconds: took, ...rest } = await workflows(stage, 'sleepers', {
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
    play: (stage, count) => workflows(stage, 'loop', { count: 1, inFlight: 1, stepsEach: count, leaves: true }),
  },
  fanout: {
    title: 'fan-out of 10,000',
    full: 10_000,
    quick: 10_000,
    play: (stage, count) => workflows(stage, 'fanout', { count: 1, inFlight: 1, stepsEach: count }),
  },
  contend1: {
    title: 'drain, 4 worker loops on a backlog that appears at once',
    needs: 'contend',
    full: 60_000,
    quick: 20_000,
    play: (stage, jobs) => contend(stage, jobs, 1),
  },
  contend: {
    title: 'drain, 100 worker loops on a backlog that appears at once',
    full: 60_000,
    quick: 20_000,
    play: (stage, jobs) => contend(stage, jobs, 25),
  },
  besideFinished: {
    title: 'drain beside 1,000,000 finished',
    needs: 'beside',
    full: 60_000,
    quick: 20_000,
    play: (stage, count) => drain(stage, { count, prepare: (client) => client.call('prefill', stage.url, 'finished', 1_000_000, PAYLOAD) }),
  },
  besidePending: {
    title: 'drain beside 100,000 pending in another queue',
    needs: 'beside',
    full: 60_000,
    quick: 20_000,
    play: (stage, count) => drain(stage, { count, prepare: (client) => client.call('prefill', stage.url, 'pending', 100_000, PAYLOAD) }),
  },
  longTransaction: {
    title: 'drain while a long transaction holds back vacuum',
    needs: 'drain',
    postgres: true,
    full: 40_000,
    quick: 20_000,
    play: (stage, count) => withLongTransaction(stage, (begin) => drain(stage, { count, prepare: begin })),
  },
  idle: {
    title: 'an idle worker for 10 s',
    full: 10,
    quick: 10,
    play: async (stage, time) => {
      await stage.client();
      await stage.workers(1, { concurrency: 50 });
      await pause(2_000);
      const before = await stage.gauges.transactions(stage.database);
      await pause(time * 1_000);
      return { queriesPerSecond: ((await stage.gauges.transactions(stage.database)) - before) / time };
    },
  },
};

/** On a connection of its own to the database of the stage. */
async function connected(stage, work) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: stage.url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function withLongTransaction(stage, work) {
  return connected(stage, (client) =>
    // Once the tables are there: a migration that builds an index beside its users would wait for the end of this transaction.
    work(async () => {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query('SELECT txid_current()');
    }),
  );
}

/** Rows and bytes that are left in the tables of the database. */
function kept(stage) {
  return connected(stage, async (client) => {
    const { rows: tables } = await client.query(
      `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    );
    let rows = 0;
    let bytes = 0;
    for (const { name } of tables) {
      const { rows: found } = await client.query(
        `SELECT count(*)::int AS n, coalesce(sum(pg_column_size(t.*)), 0)::bigint AS bytes FROM ${name} t`,
      );
      rows += found[0].n;
      bytes += Number(found[0].bytes);
    }
    return { rows, bytes };
  });
}
