// `npm run bench:flow`: compares Flow with QuickJS and js-interpreter, interleaved; prints medians of several rounds.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median } from '../statistics.mjs';
import { engines } from './engines.mjs';
import { holding, measureSnapshot, waitingForApproval } from './reference.mjs';
import { programOf, workloads } from './workloads.mjs';

const rounds = Number(process.env.ROUNDS ?? 7);
// Workers run for a long time, so the first rounds, in which V8 still optimises the dispatch loop, are left out.
const warmUp = 4;
const dialects = { flow: 'flow', quickjs: 'es2023', es5: 'es5' };
const rows = [];

for (const name of Object.keys(workloads)) {
  const times = { flow: [], quickjs: [], es5: [] };
  const values = new Set();
  for (let round = -warmUp; round < rounds; round++) {
    for (const [engine, dialect] of Object.entries(dialects)) {
      const { value, ms } = engines[engine](programOf(name, dialect));
      values.add(String(value));
      if (round >= 0) times[engine].push(ms);
    }
  }
  if (values.size !== 1) throw new Error(`${name}: the engines disagree: ${[...values].join(', ')}`);
  const [flow, quickjs, es5] = [median(times.flow), median(times.quickjs), median(times.es5)];
  rows.push({
    benchmark: name,
    'flow ms': flow.toFixed(1),
    'quickjs ms': quickjs.toFixed(1),
    'js-interpreter ms': es5.toFixed(1),
    'flow / quickjs (≤ 5)': (flow / quickjs).toFixed(2),
    'js-interpreter / flow (≥ 5)': (es5 / flow).toFixed(1),
  });
}
console.table(rows);

const cold = fileURLToPath(new URL('./cold-compile.mjs', import.meta.url));
const compiles = Array.from({ length: rounds }, () => JSON.parse(execFileSync(process.execPath, [cold], { encoding: 'utf8' })));
const snapshot = measureSnapshot(waitingForApproval());
const linear = [100, 1_000, 10_000].map((count) => (measureSnapshot(holding(count), 200_000 / count).us / count).toFixed(2));
console.table([
  { number: `compile ${compiles[0].lines} lines, cold (target 150 ms)`, value: `${median(compiles.map((c) => c.ms)).toFixed(0)} ms` },
  { number: 'snapshot + restore, reference order (target 100 µs)', value: `${snapshot.us.toFixed(1)} µs` },
  { number: 'snapshot of the reference order (target 400 bytes)', value: `${snapshot.bytes} bytes` },
  { number: 'snapshot + restore per object, with 100 / 1,000 / 10,000 objects (linear if equal)', value: `${linear.join(' / ')} µs` },
]);
