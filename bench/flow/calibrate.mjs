// `npm run bench:calibrate`: microseconds and bytes of built-ins and instructions for what they are charged, the worst first.

import '../../scripts/register-typescript.mjs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const { PRICED, priceOf } = await import('../../test/safety/prices.ts');
const { registry } = await import('../../libs/flow/vm/registry.ts');
const { compile, startRun } = await import('../../libs/flow/index.ts');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const SIZE = Number(process.env.SIZE ?? 30_000);
const ROWS = Number(process.env.ROWS ?? 25);
// A slice has 50,000 units and is meant to take a little more than a millisecond.
const NOMINAL_NS = 25;
const best = (runs) => runs.reduce((a, b) => (b.microseconds < a.microseconds ? b : a));

// The machine does not change what is counted, so one run is enough for that; the time is the best of a few.
function measure(priced, n) {
  try {
    return best(Array.from({ length: 3 }, () => priceOf(priced, n)));
  } catch {
    return undefined;
  }
}

// Every built-in with hostile arguments -------------------------------------------------------------------------------------------

const INPUTS = {
  array: 'Array.from({ length: n }, (_, i) => i + 0.5)',
  string: '"ab\u00e9".repeat(n)',
  object: 'Object.fromEntries(Array.from({ length: Math.min(n, 9e4) }, (_, i) => ["k" + i, i]))',
  map: 'new Map(Array.from({ length: n }, (_, i) => [i, i]))',
  set: 'new Set(Array.from({ length: n }, (_, i) => i))',
  number: '2 ** 1023',
  date: 'new Date(1e12)',
  error: 'new Error("x".repeat(n))',
  iterator: 'Array(n).fill(1).values()',
  promise: 'Promise.resolve(1)',
  function: '(() => 1)',
  boolean: 'true',
};
const ARGUMENTS = ['', 'x', 'x, x', 'w', '2', 'f', 'x, f'];

function* builtIns() {
  const { types, globals } = registry();
  const given = (receiver) => `const r = ${receiver}; const w = "\u00e9".repeat(9); const f = Number`;
  for (const [type, { methods }] of Object.entries(types)) {
    if (!INPUTS[type]) continue;
    for (const method of Object.keys(methods)) {
      for (const args of ARGUMENTS)
        yield {
          name: `${type}.${method}(${args})`,
          given: `${given(INPUTS[type])}; const x = ${INPUTS[type]}`,
          does: `try { r.${method}(${args}) } catch {}`,
        };
    }
  }
  for (const [name, value] of globals) {
    if (!value?.definition && !value?.members) continue;
    if (['Task', 'Workflow', 'Timer', 'Signal', 'Promise'].includes(name)) continue;
    const members = Object.entries(value.members ?? value.statics ?? {}).filter(([, each]) => each?.definition);
    const callees = [...members.map(([member]) => `${name}.${member}`), ...(value.definition ? [name, `new ${name}`] : [])];
    for (const callee of callees) {
      for (const input of ['array', 'string', 'object', 'map', 'number'])
        yield { name: `${callee}(${input})`, given: `${given('0')}; const x = ${INPUTS[input]}`, does: `try { ${callee}(x) } catch {}` };
    }
  }
}

const rows = [];
const add = (name, priced) => {
  const price = measure(priced, SIZE);
  if (!price || price.units <= 0) return;
  rows.push({
    name,
    priced,
    units: Math.round(price.units),
    microseconds: price.microseconds,
    longest: price.longest,
    ns: (price.microseconds * 1000) / price.units,
  });
};
for (const priced of PRICED) add(`${priced.name}   [${priced.given.slice(0, 40)}]`, priced);
for (const priced of builtIns()) add(priced.name, priced);

// Below a quarter of a millisecond the clock means nothing, and what takes no fuel is a push that made an array grow.
const slow = rows.filter(({ microseconds, units }) => microseconds > 250 && units > 1_000).sort((a, b) => b.ns - a.ns);
console.log(`${rows.length} calls with inputs of ${SIZE}; nominal ${NOMINAL_NS} ns per unit. The dearest for what they are charged:`);
console.table(
  slow.slice(0, ROWS).map(({ name, priced, units, microseconds, longest, ns }) => ({
    call: name,
    // Counted, so the same on every machine: with twice the input it at least doubles, or the price is wrong.
    'units of n/4, n/2, n': [...[4, 2].map((part) => Math.round(measure(priced, SIZE / part)?.units ?? 0)), units].join(', '),
    ms: (microseconds / 1000).toFixed(1),
    'most units at once': longest,
    'ns per unit': ns.toFixed(0),
  })),
);

// Memory --------------------------------------------------------------------------------------------------------------------------

const VALUES = [
  '{}',
  '{ a: 1 }',
  '{ 1000: 1 }',
  '{ a: 1, b: 2, c: 3, d: 4 }',
  '{ ["k" + i]: i }',
  '[]',
  '[1]',
  '[1, 2, 3, 4]',
  'new Map()',
  'new Map([[1, 1]])',
  'new Set([1])',
  'new Date(0)',
  'new Error("x")',
  '() => i',
  'Promise.resolve(1)',
  'new Promise(() => {})',
  'i + 0.5',
  'String(i + 0.5)',
  '(2 ** 1023).toString(2)',
  '(1e20 / 3).toFixed(50)',
  'new Date(i).toString()',
  '"abc" + i + "def"',
  '[].values()',
  'new Error("x").stack',
  '"\u4e00" + i',
  'Array(100).fill(i)',
  'structuredClone({ a: [i] })',
  'JSON.parse("{\\"1000\\":1}")',
];
const context = { executionId: 'bench', rootId: 'bench', parentId: null, workflow: 'bench', version: '1', startedAt: 0, tags: [] };
const host = { now: () => 0, random: () => 0.5, uuid: () => '' };

// In a function of its own, so that no run is alive when the next one begins.
function memoryOf(value) {
  const pushed = value.startsWith('{') ? `(${value})` : value;
  const held = compile(`const l = []; for (let i = 0; i < 20000; i++) l.push(${pushed}); await Timer.sleep(1); return l.length`);
  collect();
  const before = process.memoryUsage().heapUsed;
  const run = startRun(held, { context, limits: { fuelPerTurn: 2 ** 52, heapBytes: 2 ** 32, snapshotBytes: 2 ** 40 } });
  while (run.turn([], host).status === 'yielded');
  run.text = null;
  collect();
  const real = (process.memoryUsage().heapUsed - before) / 20_000;
  const charged = run.vm.heapBytes / 20_000;
  return { value, 'bytes in V8': Math.round(real), 'bytes charged': Math.round(charged), ratio: real / charged };
}
memoryOf('{}');
const memory = [];
for (const value of VALUES) {
  await new Promise((done) => setTimeout(done, 5));
  memory.push(memoryOf(value));
}
memory.sort((a, b) => b.ratio - a.ratio);
console.table(memory.map((row) => ({ ...row, ratio: row.ratio.toFixed(2) })));
