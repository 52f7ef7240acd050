// Flows that take more of a worker than they are charged for, if one price is wrong: each names what it may cost at the most.

export interface Bound {
  readonly name: string;
  readonly source: string;
  readonly ends: RegExp;
}

const LIMIT = /^FLOW_LIMIT_(FUEL|HEAP)$/;

/** Values that take more memory in V8 than they seem to. */
export const HEAP_BOUNDS: readonly Bound[] = [
  { name: 'objects with one integer key', source: 'const l = []; for (;;) l.push({ 1000: 1 })', ends: LIMIT },
  {
    name: 'objects with an integer key that is computed',
    source: 'const l = []; for (;;) { const o = {}; o[1000] = 1; l.push(o) }',
    ends: LIMIT,
  },
  {
    name: 'objects with an integer key from JSON',
    source: `const s = '[' + '{"1000":1},'.repeat(1e4) + '1]'; const l = []; for (;;) l.push(JSON.parse(s))`,
    ends: LIMIT,
  },
  { name: 'arrays with one far element', source: 'const l = []; for (;;) { const a = []; a[1000] = 1; l.push(a) }', ends: LIMIT },
  { name: 'empty objects', source: 'const l = []; for (;;) l.push({})', ends: LIMIT },
  { name: 'arrays of one element', source: 'const l = []; for (;;) { const a = []; a.push(1); l.push(a) }', ends: LIMIT },
  { name: 'empty Maps', source: 'const l = []; for (;;) l.push(new Map())', ends: LIMIT },
  { name: 'Sets of one element', source: 'const l = []; for (;;) l.push(new Set([1]))', ends: LIMIT },
  {
    name: 'errors with long traces',
    source: 'const f = (n) => (n > 0 ? f(n - 1) : new Error("x")); const l = []; for (;;) l.push(f(20))',
    ends: LIMIT,
  },
  { name: 'promises that nothing settles', source: 'const l = []; for (;;) l.push(new Promise(() => {}))', ends: LIMIT },
  { name: 'numbers in base two', source: 'const l = []; for (;;) l.push((2 ** 1023).toString(2))', ends: LIMIT },
  { name: 'numbers with a hundred digits', source: 'const l = []; for (;;) l.push((1e20 / 3).toFixed(100))', ends: LIMIT },
  { name: 'dates as strings', source: 'const l = []; const d = new Date(0); for (;;) l.push(d.toString())', ends: LIMIT },
  { name: 'characters that are not Latin', source: 'const s = "\\u4e00".repeat(1000); const l = []; for (;;) l.push(...s)', ends: LIMIT },
  {
    name: 'stacks of a function with a very long name',
    source: `const ${'f'.repeat(200_000)} = (n) => (n > 0 ? ${'f'.repeat(200_000)}(n - 1) : new Error("x")); const l = []; for (let i = 0; i < 2000; i++) l.push(${'f'.repeat(200_000)}(20).stack); return l.length`,
    ends: /^completed$/,
  },
  {
    name: 'every step of a string that grows, each of them read',
    source: 'const l = []; let s = "x".repeat(1e5); for (;;) { s += "y"; l.push(s); s.charCodeAt(0) }',
    ends: LIMIT,
  },
  {
    name: 'every step of a string that grows, read later',
    source:
      'for (;;) { const l = []; let s = "x".repeat(1e5); for (let i = 0; i < 2000; i++) { s += "y"; l.push(s) } for (const each of l) each.charCodeAt(0) }',
    ends: LIMIT,
  },
];

/** Work in built-ins that is longer than a slice: the flow must have yielded at least so often when it ends. */
export const TIME_BOUNDS: readonly (Bound & { yields: number })[] = [
  {
    name: 'JSON of what shares itself',
    source: 'let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; return JSON.stringify(a)',
    ends: LIMIT,
    yields: 30,
  },
  {
    name: '%j of what shares itself',
    source: 'let a = [1]; for (let i = 0; i < 60; i++) a = [a, a]; console.log("%j", a)',
    ends: LIMIT,
    yields: 30,
  },
  { name: 'Object.groupBy', source: 'return Object.groupBy(Array(5e5).fill(0), (x) => x)[0].length', ends: /^completed$/, yields: 10 },
  {
    name: 'structuredClone',
    source: 'const a = []; for (let i = 0; i < 5e4; i++) a.push([i]); structuredClone(a); structuredClone(a); return 1',
    ends: /^completed$/,
    yields: 10,
  },
  {
    name: 'flat(Infinity)',
    source: 'let a = [1]; for (let i = 0; i < 19; i++) a = [a, a]; return a.flat(Infinity).length',
    ends: /^completed$/,
    yields: 8,
  },
  { name: 'keys of a long array', source: 'return Object.keys(Array(3e5).fill(0)).length', ends: /^completed$/, yields: 8 },
  { name: 'for…in over a long array', source: 'for (const k in Array(3e5).fill(0)) break', ends: /^completed$/, yields: 8 },
  { name: 'spread of a long array', source: 'return [...Array(1e6).fill(0)].length', ends: /^completed$/, yields: 4 },
  {
    name: 'sorting strings',
    source: 'const a = []; for (let i = 0; i < 1e5; i++) a.push("k" + ((i * 7919) % 100003)); a.sort(); return a[0]',
    ends: /^completed$/,
    yields: 20,
  },
  {
    name: 'a comparison that is a built-in',
    source: 'return Array.from({ length: 1e5 }, (_, i) => i).sort(Math.max).length',
    ends: /^completed$/,
    yields: 8,
  },
  { name: 'JSON.parse', source: 'return JSON.parse("[" + "1,".repeat(3e5) + "1]").length', ends: /^completed$/, yields: 5 },
  { name: 'Promise.all', source: 'return (await Promise.all(Array(1e5).fill(1))).length', ends: /^completed$/, yields: 4 },
  { name: 'joining a long array', source: 'return Array(5e5).fill(1.5).join(",").length', ends: /^completed$/, yields: 8 },
  { name: 'normalizing a long string', source: 'return "e\\u0301x".repeat(5e5).normalize("NFC").length', ends: /^completed$/, yields: 8 },
  {
    name: 'measuring a large heap',
    source: 'const l = []; for (let i = 0; i < 8e4; i++) l.push([i]); for (let i = 0; i < 40; i++) "x".repeat(2e6); return l.length',
    ends: /^completed$/,
    yields: 20,
  },
];
