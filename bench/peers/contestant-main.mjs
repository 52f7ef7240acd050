// A process of a contestant, called over IPC: the side of the contestant. It is a client, a worker, or both.

import { setTimeout as pause } from 'node:timers/promises';

const contestant = await import(process.argv[2]);

let client;
let release;
const workers = [];
const counters = { noops: 0, firstAt: 0n, firstCpu: undefined, pickups: [] };

const calls = {
  about: () => contestant.about,
  prepare: (url) => contestant.prepare(url),
  async openClient(url) {
    client = await contestant.openClient(url);
  },
  /** Opens the workers of this process; more than one only to measure contention between worker loops. */
  async openWorkers(url, { count = 1, ...options }) {
    const onNoop = () => {
      if (counters.noops++ > 0) return;
      counters.firstAt = process.hrtime.bigint();
      counters.firstCpu = process.cpuUsage();
    };
    const onPickup = (at) => counters.pickups.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
    for (let n = 0; n < count; n++) workers.push(await contestant.openWorker(url, { ...options, onNoop, onPickup }));
  },
  /** Closes the workers of this process and forgets their jobs; it stays warm for `openWorkers`. */
  async closeWorkers() {
    await Promise.all(workers.splice(0).map((worker) => worker.close()));
    Object.assign(counters, { noops: 0, firstAt: 0n, firstCpu: undefined });
  },
  prefill: (url, status, count, payload) => contestant.prefill(url, status, count, payload),
  async hold(url, count, payload) {
    release = await contestant.hold(url, count, payload);
  },
  async release() {
    await release();
  },
  bulk: (count, payload) => timed(() => client.bulk(count, payload)),
  single: (count, inFlight, payload) => timed(() => keepInFlight(count, inFlight, () => client.single(payload))),
  /** Enqueues at a fixed rate for some seconds, a hundredth of a second's jobs at a time. */
  async paced(perSecond, time, payload) {
    const startedAt = performance.now();
    for (let tick = 0; tick < time * 100; tick++) {
      await client.bulk(perSecond / 100, payload);
      await pause(Math.max(0, startedAt + (tick + 1) * 10 - performance.now()));
    }
  },
  /** Enqueues one job that carries the time. */
  async pickup(at) {
    await client.pickup(at ?? String(process.hrtime.bigint()));
  },
  /** Starts `total` workflows, never more than `inFlight` of them unfinished; returns the time until all have ended. */
  async workflows(kind, total, inFlight) {
    const startedAt = process.hrtime.bigint();
    for (let started = 0, unfinished = 0; started < total || unfinished > 0; ) {
      const room = Math.min(inFlight - unfinished, total - started);
      if (room > 0) await client.workflows(kind, room);
      started += Math.max(room, 0);
      await pause(POLL_MS);
      unfinished = await client.unfinished(kind);
    }
    return String(process.hrtime.bigint() - startedAt);
  },
  /** Waits until no job of this kind is left; returns when that was, by the clock that all processes share. */
  async untilDone(kind) {
    while ((await client.unfinished(kind)) > 0) await pause(POLL_MS);
    return String(process.hrtime.bigint());
  },
  counters: () => ({ ...counters, firstAt: String(counters.firstAt) }),
  usage: (collect = false) => {
    if (collect) globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { cpu: process.cpuUsage(), rss, heap: heapUsed, extra: contestant.gauges?.() };
  },
  async close() {
    await Promise.all(workers.map((worker) => worker.close()));
    await client?.close();
    setImmediate(() => process.disconnect());
  },
};

// The query itself costs the server something, for every contestant.
const POLL_MS = 10;

async function timed(work) {
  const startedAt = process.hrtime.bigint();
  await work();
  return String(process.hrtime.bigint() - startedAt);
}

async function keepInFlight(count, inFlight, work) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

process.on('message', async ({ id, name, args }) => {
  try {
    process.send({ id, value: await calls[name](...args) });
  } catch (error) {
    process.send({ id, error: error?.stack ?? String(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
