// One process of a contestant: answers the calls of the harness over IPC, as a client, as a worker, or both.

const contestant = await import(`./contestants/${process.argv[2]}.mjs`);

let client;
let release;
const workers = [];
const seen = { noops: 0, first: 0n, firstCpu: undefined, pickups: [] };

const calls = {
  about: () => contestant.about,
  prepare: (url) => contestant.prepare(url),
  async openClient(url) {
    client = await contestant.openClient(url);
  },
  /** Workers of this process; more than one only where the loops themselves are to contend. */
  async openWorkers(url, { count = 1, ...options }) {
    const onNoop = () => {
      if (seen.noops++ > 0) return;
      seen.first = process.hrtime.bigint();
      seen.firstCpu = process.cpuUsage();
    };
    const onPickup = (at) => seen.pickups.push(Number(process.hrtime.bigint() - BigInt(at)) / 1e6);
    for (let n = 0; n < count; n++) workers.push(await contestant.openWorker(url, { ...options, onNoop, onPickup }));
  },
  prefill: (url, what, count, payload) => contestant.prefill(url, what, count, payload),
  async hold(url, count, payload) {
    release = await contestant.hold(url, count, payload);
  },
  async release() {
    await release();
  },
  bulk: (count, payload) => timed(() => client.bulk(count, payload)),
  single: (count, inFlight, payload) => timed(() => keepInFlight(count, inFlight, () => client.single(payload))),
  /** So many jobs per second for a while, a hundredth of them at a time. */
  async paced(perSecond, time, payload) {
    const began = performance.now();
    for (let tick = 0; tick < time * 100; tick++) {
      await client.bulk(perSecond / 100, payload);
      await pause(Math.max(0, began + (tick + 1) * 10 - performance.now()));
    }
  },
  /** One job at a time, each after the last was picked up and the worker has come to rest. */
  async pickup(at) {
    await client.pickup(at ?? String(process.hrtime.bigint()));
  },
  /** Starts `total` workflows, never more than `inFlight` of them unfinished at a time; resolves when all have ended. */
  async workflows(kind, total, inFlight) {
    const began = process.hrtime.bigint();
    for (let started = 0, open = 0; started < total || open > 0; ) {
      const room = Math.min(inFlight - open, total - started);
      if (room > 0) await client.workflows(kind, room);
      started += Math.max(room, 0);
      await pause(POLL_MS);
      open = await client.unfinished(kind);
    }
    return String(process.hrtime.bigint() - began);
  },
  /** When nothing of this kind was left, by the clock that all processes share. */
  async untilDone(kind) {
    while ((await client.unfinished(kind)) > 0) await pause(POLL_MS);
    return String(process.hrtime.bigint());
  },
  seen: () => ({ ...seen, first: String(seen.first) }),
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

// The question itself costs the server something, in everybody's measurement.
const POLL_MS = 10;
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function timed(work) {
  const began = process.hrtime.bigint();
  await work();
  return String(process.hrtime.bigint() - began);
}

async function keepInFlight(count, inFlight, work) {
  let left = count;
  const lane = async () => {
    while (left-- > 0) await work();
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
}

process.on('message', async ({ id, call, args }) => {
  try {
    process.send({ id, value: await calls[call](...args) });
  } catch (error) {
    process.send({ id, error: error?.stack ?? String(error) });
  }
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
