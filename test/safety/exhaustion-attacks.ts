// The flows that try to exhaust a worker: each must end in a typed error, in bounded time and memory.

export interface Attack {
  readonly name: string;
  readonly source: string;
  /** What it must end with; a code of a limit, or the name of an error that the flow could have caught. */
  readonly ends: RegExp;
}

const LIMIT = /^FLOW_LIMIT_(FUEL|HEAP)$/;
const DEPTH = /^FLOW_LIMIT_CALL_DEPTH$/;
const a5m = 'const a = "x".repeat(5e6) + "a", b = "x".repeat(5e6) + "b";';

/** Endless work of every kind. */
const TIME: Attack[] = [
  { name: 'an endless loop', source: 'while (true) {}', ends: LIMIT },
  { name: 'an endless loop of settled awaits', source: 'for (;;) await null', ends: LIMIT },
  { name: 'a thenable that resolves with itself', source: 'const t = { then(done) { done(t) } }; await t', ends: LIMIT },
  { name: 'jobs that make jobs', source: 'const f = () => Promise.resolve().then(f); f(); await Timer.sleep(1)', ends: LIMIT },
  { name: 'a tree of calls with rest parameters', source: 'function f(n, ...r) { if (n > 0) { f(n - 1); f(n - 1) } } f(60)', ends: LIMIT },
  {
    name: 'a tree of calls with spread arguments',
    source: 'function f(n) { if (n > 0) { f(...[n - 1]); f(...[n - 1]) } } f(60)',
    ends: LIMIT,
  },
  { name: 'calls of a very long function', source: `const f = () => { ${'1+1;'.repeat(20_000)} }; for (;;) f()`, ends: LIMIT },
  {
    name: 'callbacks of a very long function',
    source: `const a = Array(1e5).fill(0); const f = () => { ${'1+1;'.repeat(20_000)} }; a.forEach(f)`,
    ends: LIMIT,
  },
  { name: 'catch and go on', source: 'for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }', ends: LIMIT },
  {
    name: 'a sort with an inconsistent comparison',
    source: 'const a = Array.from({ length: 2e5 }, (_, i) => i); for (;;) a.sort(() => 1 - 2 * Math.random())',
    ends: LIMIT,
  },
  { name: 'shift and unshift in a loop', source: 'const a = Array(1e6).fill(0); for (;;) { a.shift(); a.unshift(0) }', ends: LIMIT },
  { name: 'splice in a loop', source: 'const a = Array(1e6).fill(0); for (;;) a.splice(1, 1, 0)', ends: LIMIT },
  { name: 'spread in a loop', source: 'let a = Array(1e5).fill(0); for (;;) a = [...a]', ends: LIMIT },
  { name: 'comparing long strings with ===', source: `${a5m} let n = 0; for (;;) if (a === b) n++`, ends: LIMIT },
  { name: 'comparing long strings with <', source: `${a5m} let n = 0; for (;;) if (a < b) n++`, ends: LIMIT },
  { name: 'comparing long strings with ==', source: `${a5m} let n = 0; for (;;) if (a == b) n++`, ends: LIMIT },
  { name: 'comparing long strings in a switch', source: `${a5m} let n = 0; for (;;) switch (a) { case b: n++ }`, ends: LIMIT },
  { name: 'searching an array for a long string', source: `${a5m} return Array(1e6).fill(a).includes(b)`, ends: LIMIT },
  {
    name: 'sorting long strings',
    source: `${a5m} const l = []; for (let i = 0; i < 1e5; i++) l.push(i % 2 ? a : b); return l.sort().length`,
    ends: LIMIT,
  },
  { name: 'reading a long string as a number', source: 'const s = "1".repeat(5e6); let n = 0; for (;;) n += -s', ends: LIMIT },
  { name: 'reading a long string as a number in a built-in', source: 'const s = "1".repeat(5e6); for (;;) Math.abs(s)', ends: LIMIT },
  {
    name: 'keys of a Map that V8 hashes alike',
    source:
      'const s = []; for (let i = 0; i < 2000; i++) s.push("x".repeat(20000) + (10000 + i)); const m = new Map(); for (const k of s) m.set(k, 1); for (;;) m.get(s[1999])',
    ends: LIMIT,
  },
  {
    name: 'property names that V8 hashes alike',
    source:
      'const o = {}; for (let i = 0; i < 2000; i++) o["x".repeat(20000) + (10000 + i)] = 1; for (let n = 0; ; n++) o["x".repeat(20000) + n]',
    ends: LIMIT,
  },
  {
    name: 'coercions that start over',
    source: 'const v = []; for (let i = 0; i < 1e5; i++) v.push({ valueOf: () => i }); return Math.max(...v)',
    ends: LIMIT,
  },
  {
    name: 'join over objects with toString',
    source: 'const v = []; for (let i = 0; i < 1e5; i++) v.push({ toString: () => "a" }); for (;;) v.join("")',
    ends: LIMIT,
  },
  {
    name: 'concat over objects with toString',
    source: 'const v = []; for (let i = 0; i < 1e5; i++) v.push({ toString: () => "a" }); return "".concat(...v)',
    ends: LIMIT,
  },
  {
    name: 'a default sort of objects with toString',
    source: 'const v = []; for (let i = 0; i < 1e5; i++) v.push({ toString: () => "a" + i }); for (;;) v.sort()',
    ends: LIMIT,
  },
  {
    name: 'a default sort of long arrays',
    source: 'const long = Array(1e5).fill("abc"); const v = []; for (let i = 0; i < 1e4; i++) v.push(long); v.sort()',
    ends: LIMIT,
  },
  { name: 'writing holes as a string', source: 'const a = Array(7e6); let n = 0; for (;;) n += String(a).length', ends: LIMIT },
  {
    name: 'a wait that is made and cancelled forever',
    source: 'for (;;) Timer.sleep(1).cancel()',
    ends: /^FLOW_LIMIT_(PENDING_EFFECTS|HEAP)$/,
  },
  { name: 'a task that is cancelled forever', source: 'const h = Task.run("x"); for (;;) h.cancel()', ends: LIMIT },
];

/** Memory in places that are easily not counted. */
const MEMORY: Attack[] = [
  { name: 'doubling a string', source: 'let s = "x"; for (;;) s += s', ends: LIMIT },
  { name: 'repeat', source: 'return "x".repeat(2 ** 28).length', ends: LIMIT },
  { name: 'repeat beyond any string', source: 'return "x".repeat(2 ** 30).length', ends: /^RangeError$/ },
  { name: 'padEnd', source: 'return "x".padEnd(2 ** 28).length', ends: LIMIT },
  { name: 'padStart beyond any string', source: 'return "x".padStart(Infinity).length', ends: /^RangeError$/ },
  {
    name: 'join with a long separator',
    source: 'return Array(1e6).join("x".repeat(1e6)).length',
    ends: /^(RangeError|FLOW_LIMIT_HEAP|FLOW_LIMIT_FUEL)$/,
  },
  { name: 'replaceAll that grows', source: 'return "a".repeat(1e6).replaceAll("a", "b".repeat(1e6)).length', ends: LIMIT },
  { name: 'replaceAll with the surrounding text', source: 'return "a".repeat(1e5).replaceAll("a", "$`$\'").length', ends: LIMIT },
  { name: 'split into characters', source: 'const l = []; for (;;) l.push("abcdefgh".repeat(1e5).split(""))', ends: LIMIT },
  { name: 'a huge length', source: 'const a = []; a.length = 2 ** 32 - 1', ends: LIMIT },
  { name: 'a far element', source: 'const a = []; a[2 ** 32 - 2] = 1', ends: LIMIT },
  { name: 'Array(1e9)', source: 'return Array(1e9).length', ends: LIMIT },
  { name: 'Array.from with a huge length', source: 'return Array.from({ length: 2 ** 32 - 1 })', ends: LIMIT },
  { name: 'the keys of a string', source: 'return Object.keys("x".repeat(3e7)).length', ends: LIMIT },
  { name: 'long property names', source: 'const o = {}; for (let i = 0; ; i++) o[("k" + i).padEnd(16000)] = 1', ends: LIMIT },
  {
    name: 'long stacks of errors',
    source: 'const l = []; for (let i = 0; ; i++) { const e = new Error("x"); e.stack = "y".repeat(1e5) + i; l.push(e) }',
    ends: LIMIT,
  },
  {
    name: 'small pieces of large strings',
    source: 'const l = []; for (let i = 0; ; i++) l.push(("y".repeat(1e6) + i).slice(5, 30))',
    ends: LIMIT,
  },
  {
    name: 'trimmed pieces of large strings',
    source: 'const l = []; for (let i = 0; ; i++) l.push((i + " ".repeat(1e6) + i + "y".repeat(20)).slice(1).trim())',
    ends: LIMIT,
  },
  { name: 'unhandled rejections', source: 'for (let i = 0; ; i++) Promise.reject([i].concat(Array(1000).fill(i)))', ends: LIMIT },
  { name: 'what map collects', source: 'return Array(1e5).fill(0).map((_, i) => ("y".repeat(1e5) + i).toUpperCase()).length', ends: LIMIT },
  {
    name: 'what Array.from collects',
    source: 'return Array.from({ length: 1e5 }, (_, i) => ("y".repeat(1e5) + i).toUpperCase()).length',
    ends: LIMIT,
  },
  { name: 'what groupBy collects', source: 'return Object.groupBy(Array(1e6).fill(0), (_, i) => ("y" + i).padEnd(1000))', ends: LIMIT },
  {
    name: 'what a replacer collects',
    source: 'return JSON.stringify(Array(1e5).fill(0), (k, v) => k === "" ? v : ("y".repeat(1e5) + k).toUpperCase()).length',
    ends: LIMIT,
  },
  {
    name: 'branches that wait with a thousand variables',
    source: `const f = async () => { ${Array.from({ length: 1000 }, (_, i) => `let a${i} = 1;`).join('')} await Signal.when("x"); return a0 }; for (;;) f()`,
    ends: /^FLOW_LIMIT_(FUEL|HEAP|PENDING_EFFECTS)$/,
  },
  { name: 'inputs of tasks that are not awaited', source: 'const s = "x".repeat(1e6); for (;;) Task.run("t", s)', ends: LIMIT },
  {
    name: 'a million tasks that are not awaited',
    source: 'for (let i = 0; i < 1e6; i++) Task.run("t")',
    ends: /^FLOW_LIMIT_PENDING_EFFECTS$/,
  },
  { name: 'a log of long lines', source: 'for (let i = 0; ; i++) console.log("a", ("x".repeat(1e6) + i).toUpperCase())', ends: LIMIT },
  { name: 'a log with a million directives', source: 'console.log("%s".repeat(3e7), 1)', ends: LIMIT },
  { name: 'a Map with millions of entries', source: 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)', ends: LIMIT },
  { name: 'millions of closures', source: 'const l = []; for (;;) { let x = 1; l.push(() => x) }', ends: LIMIT },
  { name: 'a return value of control characters', source: 'return Array(100).fill("\\u0001".repeat(1e6))', ends: /^RangeError$/ },
  {
    name: 'a return value that shares itself',
    source: 'let a = [null]; for (let i = 0; i < 40; i++) a = [a, a]; return a',
    ends: /^RangeError$/,
  },
  {
    name: 'JSON of what shares itself',
    source: 'let a = [null]; for (let i = 0; i < 40; i++) a = [a, a]; return JSON.stringify(a)',
    ends: LIMIT,
  },
  {
    name: 'a log of what shares itself',
    source: 'let a = Array(100).fill(0); for (let i = 0; i < 5; i++) a = Array(100).fill(a); console.log(a)',
    ends: /^completed$/,
  },
  {
    name: 'a snapshot that is too large',
    source: 'const l = []; for (let i = 0; i < 4e5; i++) l.push({ i, t: "some text " + i }); await Timer.sleep(1); return l',
    ends: /^FLOW_LIMIT_(SNAPSHOT|HEAP|FUEL)$/,
  },
];

/** Depth, where the host's own stack is in danger. */
const DEEP: Attack[] = [
  { name: 'recursion', source: 'const f = () => f(); f()', ends: DEPTH },
  { name: 'recursion through map', source: 'const f = () => [1].map(f); f()', ends: DEPTH },
  { name: 'recursion through sort', source: 'const f = () => [2, 1].sort(f); f()', ends: DEPTH },
  { name: 'recursion through toString', source: 'const o = { toString: () => "" + o }; String(o)', ends: DEPTH },
  { name: 'recursion through toJSON', source: 'const o = { toJSON: () => JSON.stringify(o) }; JSON.stringify(o)', ends: DEPTH },
  { name: 'recursion through replace', source: 'const f = () => "a".replace("a", f); f()', ends: DEPTH },
  {
    name: 'recursion in catch and finally',
    source: 'const f = () => { try { return f() } catch { return f() } finally { f() } }; f()',
    ends: DEPTH,
  },
  { name: 'reading deep JSON', source: 'JSON.parse("[".repeat(1e5) + "]".repeat(1e5))', ends: /^RangeError$/ },
  { name: 'returning deep data', source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a', ends: /^RangeError$/ },
  {
    name: 'flattening deep data',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a.flat(Infinity)',
    ends: /^RangeError$/,
  },
  {
    name: 'writing deep data as a string',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return String(a)',
    ends: /^RangeError$/,
  },
  {
    name: 'reviving deep JSON',
    source: 'let t = "1"; for (let i = 0; i < 5000; i++) t = "[" + t + "]"; return JSON.parse(t, (k, v) => v)',
    ends: /^RangeError$/,
  },
  {
    name: 'an array with a property that contains itself',
    source: 'const a = []; a.x = 1; a.push(a); return String(a)',
    ends: /^(FLOW_LIMIT_CALL_DEPTH|RangeError|completed)$/,
  },
  {
    name: 'cloning deep data',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; structuredClone(a); return "fine"',
    ends: /^completed$/,
  },
  {
    name: 'JSON of deep data',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return JSON.stringify(a).length',
    ends: /^completed$/,
  },
  {
    name: 'a long chain of promises',
    source: 'let p = Promise.resolve(0); for (let i = 0; i < 1e5; i++) p = p.then((x) => x + 1); return await p',
    ends: /^completed$/,
  },
  {
    name: 'a long chain of causes',
    source: 'let e; for (let i = 0; i < 5e4; i++) e = new Error("x", { cause: e }); throw e',
    ends: /^Error$/,
  },
  {
    name: 'a snapshot of deep data',
    source: 'let a = []; for (let i = 0; i < 1e5; i++) a = { a }; await Timer.sleep(1); return a',
    ends: /^suspended$/,
  },
  {
    name: 'many arguments',
    source:
      'const a = Array(1e6).fill(1); return [Math.max(...a), Math.hypot(...a) > 0, String.fromCharCode(...a).length, Promise.try === 1]',
    ends: /^completed$/,
  },
  {
    name: 'many arguments of a callback',
    source: 'return await Promise.try(Math.max, ...Array(1e6).fill(1))',
    ends: /^(completed|FLOW_LIMIT_CALL_DEPTH|RangeError)$/,
  },
];

/** Built-ins that are quadratic in a careless engine; here they complete. */
const LINEAR: Attack[] = [
  ['indexOf', 't.indexOf(h + "b" + h)'],
  ['lastIndexOf', 't.lastIndexOf(h + h + "b")'],
  ['includes', 't.includes(h + "b" + h)'],
  ['split', 't.split(h + "b" + h).length'],
  ['replaceAll', 't.replaceAll(h + "b" + h, "").length'],
].map(([name, call]) => ({
  name: `${name} of a long string in a long string`,
  source: `const t = "a".repeat(2e6), h = "a".repeat(5e5); return ${call}`,
  ends: /^completed$/,
}));

export const ATTACKS: readonly Attack[] = [...TIME, ...MEMORY, ...DEEP, ...LINEAR];
