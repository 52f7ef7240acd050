// BullMQ as a contestant: Lua scripts in Redis over a connection that pipelines.

import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';

export const about = {
  name: 'BullMQ',
  package: 'bullmq',
  store: 'redis',
  settings:
    'bulk by addBulk in 2 lanes of 1,000 jobs, single by add; a Worker with the concurrency, which fetches the next job as it completes ' +
    'one; removeOnComplete false, so that jobs stay with their results; driver ioredis, without auto-pipelining, which made it slower',
  can: ['bulk', 'single', 'drain', 'pickup'],
};

const NOOP = 'noop';
const PICKUP = 'pickup';
const CHUNK = 1_000;
const LANES = 2;

// Built here, because BullMQ cannot load its driver itself in ES modules; workers insist on endless retries.
function connect(url) {
  const redis = new Redis(url, { maxRetriesPerRequest: null });
  redis.on('error', (error) => console.error(error.message));
  return redis;
}

/** Redis needs no schema: queues are there as soon as somebody names them. */
export async function prepare() {}

export async function openClient(url) {
  const connection = connect(url);
  const open = (name) => new Queue(name, { connection, defaultJobOptions: { removeOnComplete: false } });
  const queues = { [NOOP]: open(NOOP), [PICKUP]: open(PICKUP) };
  await Promise.all(Object.values(queues).map((queue) => queue.waitUntilReady()));
  return {
    async bulk(count, payload) {
      const job = { name: NOOP, data: payload };
      let left = count;
      const lane = async () => {
        while (left > 0) {
          const size = Math.min(CHUNK, left);
          left -= size;
          await queues[NOOP].addBulk(new Array(size).fill(job));
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
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
  const open = (name, act) => {
    const work = async ({ data }) => {
      act(data);
      return { ok: true };
    };
    const worker = new Worker(name, work, { connection, concurrency });
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
