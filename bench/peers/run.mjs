// `npm run bench:peers`: runs the same workloads for every contestant, interleaved, in several rounds; prints medians and ratios.

import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { writeBenchmarksPage } from './benchmarks-page.mjs';
import { ContestantProcess, contestantFile } from './contestant-process.mjs';
import { readNames } from './flags.mjs';
import { formatNumbers, printResults } from './results.mjs';
import { startServers } from './servers.mjs';
import { runTrial } from './trial.mjs';
import { WORKLOADS } from './workloads.mjs';

const CONTESTANTS = ['raw', 'rhythm', 'graphile-worker', 'pg-boss', 'dbos', 'bullmq'];
const DEFAULT_WORKLOADS = Object.keys(WORKLOADS).filter((name) => !WORKLOADS[name].optional);
const USAGE = `npm run bench:peers -- [options]
  --quick               less work, and one round
  --rounds <n>          rounds; default 3
  --only <names>        workloads, separated by commas: ${Object.keys(WORKLOADS).join(', ')};
                        default all but ${Object.keys(WORKLOADS)
                          .filter((name) => !DEFAULT_WORKLOADS.includes(name))
                          .join(', ')}
  --contestants <names> contestants, separated by commas: ${CONTESTANTS.join(', ')}
  --write               write the results into docs/benchmarks.md`;

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    only: { type: 'string' },
    contestants: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(USAGE);
  process.exit();
}
const rounds = Number(flags.rounds ?? (flags.quick ? 1 : 3));
const workloads = readNames('--only', flags.only, Object.keys(WORKLOADS), DEFAULT_WORKLOADS);
const chosen = readNames('--contestants', flags.contestants, CONTESTANTS);

// The private servers end with this process, even if it is interrupted.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const servers = await startServers();
try {
  // The page also shows results of an earlier run for contestants that do not run now.
  const all = await describe(flags.write ? CONTESTANTS : chosen);
  const contestants = all.filter(({ module }) => chosen.includes(module));
  const results = [];
  for (const name of workloads) {
    const workload = WORKLOADS[name];
    const able = contestants.filter((contestant) => supports(contestant, name, workload));
    for (let round = 1; round <= rounds; round++) {
      // The order rotates, so that no contestant always follows the same one.
      const first = (round - 1) % able.length;
      for (const contestant of [...able.slice(first), ...able.slice(0, first)]) {
        const label = `${workload.title} · ${contestant.name} · round ${round}`;
        try {
          const numbers = await runTrial(servers, contestant, (trial) => workload.run(trial, flags.quick ? workload.quick : workload.full));
          results.push({ workload: name, contestant: contestant.name, round, ...numbers });
          console.log(`${label}: ${formatNumbers(numbers)}`);
        } catch (error) {
          results.push({ workload: name, contestant: contestant.name, round, failed: error.message });
          console.log(`${label}: FAILED ${error.message}`);
          process.exitCode = 1;
        }
      }
    }
  }
  printResults(results, contestants);
  if (!servers.redis) console.log('\nBullMQ was left out: there is no redis-server on this machine.');
  if (flags.write)
    await writeBenchmarksPage({
      results,
      contestants: all,
      versions: { ...servers.versions, node: versionOf('node') },
      rounds,
      quick: flags.quick,
    });
} finally {
  await servers.stop();
}

async function describe(modules) {
  const found = [];
  for (const module of modules) {
    const file = contestantFile(module);
    const started = await ContestantProcess.start(file);
    const about = await started.call('about');
    await started.end();
    if (about.store === 'redis' && !servers.redis) continue;
    found.push({ module, file, version: versionOf(about.package), ...about });
  }
  return found;
}

function versionOf(name) {
  const file = name ? new URL(`../node_modules/${name}/package.json`, import.meta.url) : new URL('../../package.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')).version;
}

function supports(contestant, name, workload) {
  if (workload.postgres && contestant.store !== 'postgres') return false;
  return contestant.can.includes(workload.needs ?? name);
}
