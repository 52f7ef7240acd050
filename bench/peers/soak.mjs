// `npm run bench:soak [-- --minutes 10]`: tasks and workflows without a pause on one worker process; its memory must not grow.

import { parseArgs } from 'node:util';
import { onStage } from './stage.mjs';
import { openVenue } from './venue.mjs';
import { PAYLOAD } from './workloads.mjs';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const MINUTES = Number(values.minutes);
if (!(MINUTES > 0)) throw new Error(`--minutes is ${values.minutes}; it is a number above 0.`);
const SAMPLES = 20;
const MiB = 2 ** 20;

const venue = await openVenue();
try {
  const samples = await onStage(venue, { module: 'rhythm', name: 'Rhythm', store: 'postgres' }, play);
  console.table(samples);
  // The first third is warm-up: caches fill and the compiler settles.
  const third = Math.floor(samples.length / 3);
  const median = (list) => list.map((sample) => sample['heap MiB']).sort((a, b) => a - b)[list.length >> 1];
  const [middle, last] = [median(samples.slice(third, 2 * third)), median(samples.slice(2 * third))];
  console.log(`Heap after a full collection, median of the middle third ${middle} MiB, of the last third ${last} MiB.`);
  if (last > middle * 1.2) {
    console.error('The memory of the worker grows.');
    process.exitCode = 1;
  }
} finally {
  await venue.close();
}

async function play(stage) {
  const client = await stage.client();
  const [worker] = await stage.workers(1, { concurrency: 500 });
  const samples = [];
  const began = Date.now();
  const end = began + MINUTES * 60_000;
  while (Date.now() < end) {
    const until = began + ((samples.length + 1) * (end - began)) / SAMPLES;
    while (Date.now() < Math.min(until, end)) {
      await client.call('bulk', 5_000, PAYLOAD);
      await client.call('workflows', 'steps5', 500, 250);
      await client.call('untilDone', 'noop');
    }
    const { rss, heap } = await worker.call('usage', true);
    const { noops } = await worker.call('seen');
    samples.push({
      minute: ((Date.now() - began) / 60_000).toFixed(1),
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
