// pg-boss as a contestant: jobs inserted and completed in batches, NOTIFY for the pickup of single jobs.

import { PgBoss } from 'pg-boss';
import { inLanes } from './lanes.mjs';

export const about = {
  name: 'pg-boss',
  package: 'pg-boss',
  store: 'postgres',
  settings:
    'bulk with insert() in 2 lanes of 1,000 jobs; work() with 2 loops, batches of half the concurrency, burstWhenBatchFull, perJobResults ' +
    '(a result per job, stored in one statement); a table per queue (partition: true); pickup with LISTEN/NOTIFY on a separate queue, with ' +
    'polling at the shortest interval of 0.5 s as a fallback; no cron; 20 connections for the client, 10 per worker',
  can: ['bulk', 'single', 'drain', 'pickup'],
};

// Two queues, because NOTIFY makes commits wait for each other: the queue for bulk work has none.
const NOOP = 'noop';
const PICKUP = 'pickup';
const LOOPS = 2;
const MIN_INTERVAL_SECONDS = 0.5;

async function start(url, settings) {
  const boss = new PgBoss({ connectionString: url, schedule: false, ...settings });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  return boss;
}

export async function prepare(url) {
  const boss = await start(url, { supervise: false, max: 2 });
  await boss.createQueue(NOOP, { partition: true });
  await boss.createQueue(PICKUP, { partition: true, notify: true });
  await boss.stop();
}

export async function openClient(url) {
  const boss = await start(url, { supervise: false, migrate: false, max: 20 });
  const tables = Object.fromEntries((await boss.getQueues()).map(({ name, table }) => [name, table]));
  const db = boss.getDb();
  const isAny = async (kind, condition) => {
    const sql = `SELECT EXISTS (SELECT FROM pgboss.${tables[kind]} WHERE name = $1 AND ${condition}) AS found`;
    return (await db.executeSql(sql, [kind])).rows[0].found;
  };
  return {
    bulk(count, payload) {
      const job = { data: payload };
      return inLanes(count, (size) => boss.insert(NOOP, new Array(size).fill(job)));
    },
    single: (payload) => boss.send(NOOP, payload),
    pickup: (at) => boss.send(PICKUP, { at }),
    async unfinished(kind) {
      // There is an index for waiting jobs, but none for active ones: these are queried only when no job is waiting.
      if (await isAny(kind, `state < 'active' AND NOT blocked`)) return 1;
      return (await isAny(kind, `state = 'active'`)) ? 1 : 0;
    },
    close: () => boss.stop(),
  };
}

export async function openWorker(url, { concurrency, onNoop, onPickup }) {
  const boss = await start(url, { migrate: false, useListenNotify: true, max: 10 });
  const handler = (onJob) => async (jobs) =>
    jobs.map(({ id, data }) => {
      onJob(data);
      return { id, status: 'completed', output: { ok: true } };
    });
  const options = {
    perJobResults: true,
    pollingIntervalSeconds: MIN_INTERVAL_SECONDS,
    notifyPollingIntervalSeconds: MIN_INTERVAL_SECONDS,
  };
  // With batches of one it would fetch only one job per interval.
  const batches = { batchSize: Math.max(2, Math.ceil(concurrency / LOOPS)), localConcurrency: LOOPS, burstWhenBatchFull: true };
  await boss.work(
    NOOP,
    { ...options, ...batches },
    handler(() => onNoop()),
  );
  await boss.work(
    PICKUP,
    options,
    handler(({ at }) => onPickup(at)),
  );
  return { close: () => boss.stop() };
}
