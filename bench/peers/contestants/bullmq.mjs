// BullMQ as a contestant: Lua scripts in Redis over a pipelined connection.

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { inLanes } from './lanes.mjs';

export const about = {
  name: 'BullMQ',
  package: 'bullmq',
  store: 'redis',
  settings:
    'bulk with addBulk in 2 lanes of 1,000 jobs, single with add; a Worker with the concurrency, which fetches the next job as it ' +
    'completes one; removeOnComplete false, which keeps the results; driver ioredis, without auto-pipelining, which made it slower',
  can: ['bulk', 'single', 'drain', 'pickup'],
};

const NOOP = 'noop';
const PICKUP = 'pickup';

// Created here, because BullMQ cannot load its driver itself in ES modules; its workers require endless retries.
function connect(url) {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on('error', (error) => console.error(error.message));
  return redis;
}

/** Redis needs no schema. */
export async function prepare() {}

export async function openClient(url) {
  const connection = connect(url);
  const open = (name) => new Queue(name, { connection, defaultJobOptions: { removeOnComplete: false } });
  const queues = { [NOOP]: open(NOOP), [PICKUP]: open(PICKUP) };
  await Promise.all(Object.values(queues).map((queue) => queue.waitUntilReady()));
  return {
    bulk(count, payload) {
      const job = { name: NOOP, data: payload };
      return inLanes(count, (size) => queues[NOOP].addBulk(new Array(size).fill(job)));
    },
    single: (payload) => queues[NOOP].add(NOOP, payload),
    pickup: (at) => queues[PICKUP].add(PICKUP, { at }),
    unfinished: (kind) => queues[kind].getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized'),
    async close() {
      await Promise.all(Object.values(queues).map((queue) => queue.close()));
      await connection.quit();
    },
  };
}

export async function openWorker(url, { concurrency, onNoop, onPickup }) {
  const connection = connect(url);
  const open = (name, onJob) => {
    const handler = async ({ data }) => {
      onJob(data);
      return { ok: true };
    };
    const worker = new Worker(name, handler, { connection, concurrency });
    worker.on('error', (error) => console.error(error.message));
    return worker;
  };
  const workers = [open(NOOP, () => onNoop()), open(PICKUP, ({ at }) => onPickup(at))];
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  return {
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await connection.quit();
    },
  };
}
