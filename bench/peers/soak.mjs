// `npm run bench:soak [-- --minutes 10]`: runs tasks and workflows without a pause on one worker process; its memory must not grow.

import { parseArgs } from 'node:util';
import { median } from '../statistics.mjs';
import { contestantFile } from './contestant-process.mjs';
import { PAYLOAD } from './payload.mjs';
import { startServers } from './servers.mjs';
import { runTrial } from './trial.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const MINUTES = Number(values.minutes);
if (!(MINUTES > 0)) throw new Error(`--minutes is ${values.minutes}. It must be a number above 0.`);
const SAMPLES = 20;
const MiB = 2 ** 20;

const servers = await startServers({ redis: false });
try {
  const samples = await runTrial(servers, { file: contestantFile('rhythm'), name: 'Rhythm', store: 'postgres' }, soak);
  console.table(samples);
  // The first third is warm-up: caches are filled and code is optimised.
  const third = Math.floor(samples.length / 3);
  const heap = samples.map((sample) => sample['heap MiB']);
  const [middle, last] = [median(heap.slice(third, 2 * third)), median(heap.slice(2 * third))];
  console.log(`Heap after a full collection, median of the middle third ${middle} MiB, of the last third ${last} MiB.`);
  if (last > middle * 1.2) {
    console.error('The memory of the worker grows.');
    process.exitCode = 1;
  }
} finally {
  await servers.stop();
}

async function soak(trial) {
  const client = await trial.startClient();
  const [worker] = await trial.startWorkers(1, { concurrency: 500 });
  const samples = [];
  const startedAt = Date.now();
  const end = startedAt + MINUTES * 60_000;
  while (Date.now() < end) {
    const until = startedAt + ((samples.length + 1) * (end - startedAt)) / SAMPLES;
    while (Date.now() < Math.min(until, end)) {
      await client.call('bulk', 5_000, PAYLOAD);
      await client.call('workflows', 'steps5', 500, 250);
      await client.call('untilDone', 'noop');
    }
    const { rss, heap } = await worker.call('usage', true);
    const { noops } = await worker.call('counters');
    samples.push({
      minute: ((Date.now() - startedAt) / 60_000).toFixed(1),
      'tasks run': noops,
      'heap MiB': round(heap),
      'rss MiB': round(rss),
    });
    console.log(Object.values(samples.at(-1)).join('  '));
  }
  return samples;
}

function round(bytes) {
  return Math.round((bytes / MiB) * 10) / 10;
}
