// `npm run bench:peers`: everybody on the same work, interleaved, several rounds; prints medians and ratios.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeDocument } from './document.mjs';
import { printResults } from './results.mjs';
import { Actor, onStage } from './stage.mjs';
import { openVenue } from './venue.mjs';
import { WORKLOADS } from './workloads.mjs';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    contestants: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const ALL = ['raw', 'rhythm', 'graphile-worker', 'pg-boss', 'dbos', 'bullmq'];
const list = (text, all) => {
  const wanted = text?.split(',') ?? all;
  const unknown = wanted.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`Unknown: ${unknown.join(', ')}. There are: ${all.join(', ')}.`);
  return wanted;
};
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
const workloads = list(flags.only, Object.keys(WORKLOADS));

// The private servers end with this process, however it ends.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const venue = await openVenue();
try {
  const chosen = list(flags.contestants, ALL);
  // The page also shows what an earlier run says of those who do not play now.
  const everybody = await meet(flags.write ? ALL : chosen);
  const contestants = everybody.filter(({ module }) => chosen.includes(module));
  const results = [];
  for (const name of workloads) {
    const workload = WORKLOADS[name];
    const players = contestants.filter((contestant) => canPlay(contestant, name, workload));
    for (let round = 1; round <= rounds; round++) {
      // The order turns, so that nobody always comes after the same one.
      const turn = (round - 1) % players.length;
      for (const contestant of [...players.slice(turn), ...players.slice(0, turn)]) {
        try {
          const numbers = await onStage(venue, contestant, (stage) => workload.play(stage, flags.quick ? workload.quick : workload.full));
          results.push({ workload: name, contestant: contestant.name, round, ...numbers });
          console.log(`${workload.title} · ${contestant.name} · round ${round}: ${shortly(numbers)}`);
        } catch (error) {
          results.push({ workload: name, contestant: contestant.name, round, failed: error.message });
          console.log(`${workload.title} · ${contestant.name} · round ${round}: FAILED ${error.message}`);
          process.exitCode = 1;
        }
      }
    }
  }
  printResults(results, contestants);
  if (!venue.redis) console.log('\nBullMQ was left out: there is no redis-server on this machine.');
  if (flags.write)
    await writeDocument({
      results,
      contestants: everybody,
      versions: { ...venue.versions, node: versionOf('node') },
      rounds,
      quick: flags.quick,
    });
} finally {
  await venue.close();
}

async function meet(modules) {
  const met = [];
  for (const module of modules) {
    const actor = await Actor.start(module);
    const about = await actor.call('about');
    await actor.end();
    if (about.store === 'redis' && !venue.redis) continue;
    met.push({ module, version: versionOf(about.package), ...about });
  }
  return met;
}

function versionOf(name) {
  const file = name ? new URL(`../node_modules/${name}/package.json`, import.meta.url) : new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

function canPlay(contestant, name, workload) {
  if (workload.postgres && contestant.store !== 'postgres') return false;
  return contestant.can.includes(workload.needs ?? name);
}

function shortly(numbers) {
  return Object.entries(numbers)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)}`)
    .join(', ');
}
