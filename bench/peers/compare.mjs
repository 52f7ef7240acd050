// `npm run bench:compare -- --old <checkout>`: runs the same workloads with another checkout of this repository and with this
// one, interleaved, and prints the ratio of each number with its interval.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ContestantProcess, contestantFile, ROOT } from './contestant-process.mjs';
import { readNames } from './flags.mjs';
import { ratiosOf } from './ratios.mjs';
import { formatNumbers } from './results.mjs';
import { startServers } from './servers.mjs';
import { runTrial } from './trial.mjs';
import { WORKLOADS } from './workloads.mjs';

const DEFAULT_WORKLOADS = ['drain1', 'steps5', 'steps20', 'pickup', 'single'];
const USAGE = `npm run bench:compare -- --old <checkout> [options]
  --old <checkout>  the other checkout of this repository, built with npm run build
  --rounds <n>      rounds of old, new, new, old; default 5
  --only <names>    workloads, separated by commas; default ${DEFAULT_WORKLOADS.join(',')}
  --quick           less work per trial`;

const { values: flags } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    old: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
if (flags.help) {
  console.log(USAGE);
  process.exit();
}
if (!flags.old) throw new Error(`--old is missing.\n${USAGE}`);
const rounds = Number(flags.rounds);
if (!(Number.isInteger(rounds) && rounds > 0)) throw new Error(`--rounds is ${flags.rounds}. It must be a whole number above 0.`);
const names = readNames('--only', flags.only, Object.keys(WORKLOADS), DEFAULT_WORKLOADS);
const [before, after] = await Promise.all([describe('old', pathToFileURL(`${resolve(flags.old)}/`)), describe('new', ROOT)]);
for (const { name, commit, checkout } of [before, after]) console.log(`${name}: ${commit} in ${fileURLToPath(checkout)}`);

process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
const pairs = [];
for (let round = 1; round <= rounds; round++) {
  // A new server for each round, with a new database for each trial.
  const servers = await startServers({ redis: false });
  try {
    for (const name of names) pairs.push(...(await runPairs(servers, name, round)));
  } finally {
    await servers.stop();
  }
}
for (const name of names) {
  console.log(`\n${WORKLOADS[name].title}`);
  console.table(ratiosOf(pairs.filter(({ workload }) => workload === name)));
}
console.log(
  `\nRatios are new ÷ old: the median of ${2 * rounds} pairs of adjacent trials, with the 95 % bootstrap interval of the median.`,
);

/** Two pairs in the order old, new, new, old, so that a steady drift of the machine cancels out; the next round starts with new. */
async function runPairs(servers, name, round) {
  const { run, full, quick, title } = WORKLOADS[name];
  const measured = { old: [], new: [] };
  const first = round % 2 === 1 ? [before, after] : [after, before];
  for (const checkout of [...first, ...first.toReversed()]) {
    const numbers = await runTrial(servers, checkout, (trial) => run(trial, flags.quick ? quick : full));
    measured[checkout.name].push(numbers);
    console.log(`${title} · round ${round} · ${checkout.name}: ${formatNumbers(numbers)}`);
  }
  return measured.old.map((numbers, n) => ({ workload: name, old: numbers, new: measured.new[n] }));
}

/** A checkout as a contestant: its own contestant module `rhythm`, on its own build. */
async function describe(name, checkout) {
  const file = contestantFile('rhythm', checkout);
  if (!existsSync(new URL(file))) throw new Error(`${fileURLToPath(checkout)} is not a checkout of this repository with benchmarks.`);
  if (!existsSync(new URL('dist/esm/src/index.js', checkout))) {
    throw new Error(`${fileURLToPath(checkout)} is not built. Run there: npm ci && npm run build`);
  }
  const started = await ContestantProcess.start(file);
  const { store } = await started.call('about');
  await started.end();
  return { name, file, store, checkout, commit: commitOf(checkout) };
}

function commitOf(checkout) {
  try {
    const cwd = fileURLToPath(checkout);
    return execFileSync('git', ['log', '-1', '--format=%h %s'], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown commit';
  }
}
