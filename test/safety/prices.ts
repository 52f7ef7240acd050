// What built-ins and instructions are charged for growing inputs. A case marks its work with two calls of `Math.random`, so that making the input does not count.
import { compile, DEFAULT_LIMITS, startRun, type TurnResult } from '../../libs/flow/index.js';
import { CONTEXT } from '../support/flow-driver.js';

export interface Priced {
  readonly name: string;
  /** Makes the input from `n`. */
  readonly given: string;
  readonly does: string;
  /** What the host must do at least, in elements, characters divided by 16 (32 where they are only copied), comparisons… */
  readonly work: (n: number) => number;
}

const linear = (n: number) => n;
const text = (n: number) => n / 16;
const copied = (n: number) => n / 32;
const sorting = (n: number) => n * Math.log2(n);
const square = (n: number) => (n * n) / 16;

const ARRAY = 'const a = Array.from({ length: n }, (_, i) => i)';
const TEXT = 'const s = "ab,".repeat(n / 3)';
const OBJECT = 'const o = {}; for (let i = 0; i < n; i++) o["k" + i] = i';
const TREE = 'let t = [1]; for (let i = 1; i < n; i *= 2) t = [t, t]';

function cases(given: string, work: Priced['work'], calls: string[]): Priced[] {
  return calls.map((does) => ({ name: does, given, does, work }));
}

export const PRICED: readonly Priced[] = [
  ...cases(ARRAY, linear, [
    'a.map(Math.abs)',
    'a.filter(Boolean)',
    'a.slice()',
    'a.concat(a)',
    'a.flat()',
    'a.indexOf(-1)',
    'a.includes(-1)',
    'a.lastIndexOf(-1)',
    'a.fill(0)',
    'a.reverse()',
    'a.toReversed()',
    'a.with(0, 1)',
    'a.copyWithin(0, 1)',
    'a.splice(0, n)',
    'a.toSpliced(0, 1)',
    'a.unshift(1)',
    'a.shift()',
    'a.join()',
    'String(a)',
    'a.reduce(Math.max)',
    'a.every(isFinite)',
    'a.find(isNaN)',
    'a.flatMap(Number)',
    'Array.from(a)',
    'Array.of(...a)',
    'new Set(a)',
    'new Map([[a, a]]).set(1, Array(n))',
    'Object.keys(a)',
    'Object.entries(a)',
    'Object.values(a)',
    'Object.assign([], a)',
    'Object.groupBy(a, Boolean)',
    'Map.groupBy(a, Boolean)',
    'Math.max(...a)',
    'Math.hypot(...a)',
    'String.fromCharCode(...a)',
    'JSON.stringify(a)',
    'console.log("%j", a)',
    'structuredClone(a)',
    'Promise.all(a)',
    'Promise.race(a)',
    'new AggregateError(a)',
    '[...a]',
    'const [...r] = a',
    '({ ...a })',
    'for (const k in a) break',
    'for (const e of a) e',
    'const [x, y, ...z] = a',
    '((...r) => r)(...a)',
  ]),
  ...cases(ARRAY, sorting, ['a.sort()', 'a.toSorted()', 'a.sort((x, y) => y - x)', 'a.sort(() => 1)', 'a.sort(Math.max)']),
  ...cases(TEXT, text, [
    's.indexOf("z")',
    's.lastIndexOf("z")',
    's.includes("z")',
    's.toUpperCase()',
    's.toLowerCase()',
    's.trim()',
    's.repeat(2)',
    's.padEnd(n * 2)',
    's.concat(s)',
    's.replace("z", "")',
    's.isWellFormed()',
    's.toWellFormed()',
    's.normalize()',
    'encodeURIComponent(s)',
    'decodeURIComponent(s)',
    'JSON.stringify(s)',
    'Number(s)',
    's < s + "a"',
    's + s',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source of a flow.
    '`${s}${s}`',
    '(s + "x").charCodeAt(0)',
    '(s + "x")[0]',
  ]),
  ...cases(TEXT, copied, ['s.slice(1)', 's.substring(1)']),
  ...cases(TEXT, linear, ['s.split("")', '[...s]', 'Array.from(s)', 'for (const c of s) c', 'Object.keys(s)']),
  ...cases(TEXT, (n) => n / 3, ['s.split(",")', 's.replaceAll(",", ";")', 's.replaceAll(",", String)']),
  ...cases(OBJECT, linear, [
    'Object.keys(o)',
    'Object.values(o)',
    'Object.entries(o)',
    'Object.assign({}, o)',
    'Object.fromEntries(Object.entries(o))',
    '({ ...o })',
    'const { k0, ...r } = o',
    'for (const k in o) break',
    'JSON.stringify(o)',
    'structuredClone(o)',
    'for (const k in o) delete o[k]',
  ]),
  ...cases('const o = {}; for (let i = 0; i < n; i++) o[i * 20011] = i', linear, [
    'Object.keys(o)',
    'for (const k in o) break',
    '({ ...o })',
  ]),
  ...cases(TREE, linear, ['t.flat(Infinity)', 'JSON.stringify(t)', 'String(t)', 'console.log("%j", t)']),
  ...cases('const s = "[" + "1,".repeat(n) + "1]"', linear, ['JSON.parse(s)', 'JSON.parse(s, (k, v) => v)']),
  ...cases('const s = "a" + "\\u0301".repeat(n / 20) + "\\u0316".repeat(n / 20)', (n) => square(n / 10), [
    's.normalize("NFD")',
    's.normalize("NFC")',
  ]),
  ...cases('let s = "x".repeat(n)', (n) => n, [
    'for (let i = 0; i < 20; i++) { s += "y"; s.charCodeAt(0) }',
    'for (let i = 0; i < 20; i++) { s += "y"; s[0] }',
  ]),
  ...cases('let p = Promise.resolve(1)', linear, ['for (let i = 0; i < n; i++) { const q = p; p = new Promise((r) => r(q)) } await p']),
  ...cases('let a = [1]', linear, ['for (const e of a) if (a.length < n) a.push(e)', 'for (let i = 0; i < n; i++) a.push(a)']),
  ...cases('const l = []', linear, [
    'for (let i = 0; i < n; i++) l.push({ 1000: 1 })',
    'for (let i = 0; i < n; i++) l.push(i.toString(2))',
    'for (let i = 0; i < n; i++) l.push(new Date(i).toString())',
    'for (let i = 0; i < n; i++) l.push(new Error("x").stack)',
  ]),
];

export interface Price {
  /** Fuel and bytes that were charged. */
  readonly units: number;
  readonly bytes: number;
  /** Of the whole process, garbage collection included. */
  readonly microseconds: number;
  /** The most fuel between two slices. */
  readonly longest: number;
}

const LIMITS = { ...DEFAULT_LIMITS, fuelPerTurn: 2 ** 52, heapBytes: 2 ** 32 };

/** Runs the work of a case once. */
export function priceOf({ given, does }: Pick<Priced, 'given' | 'does'>, n: number): Price {
  const program = compile(`const n = ${n}; ${given}; Math.random(); ${does}; Math.random(); return 1`);
  const run = startRun(program, { context: CONTEXT, limits: LIMITS });
  // The meter is the machine itself, which a run does not show.
  const { vm } = run as unknown as { vm: { fuel: number; heapBytes: number } };
  const marks: { fuel: number; bytes: number; time: number }[] = [];
  const host = {
    now: () => 0,
    uuid: () => '',
    random() {
      marks.push({ fuel: vm.fuel, bytes: vm.heapBytes, time: process.cpuUsage().user });
      return 0;
    },
  };
  let longest = 0;
  let result: TurnResult = { status: 'yielded' };
  while (result.status === 'yielded') {
    const before = vm.fuel;
    result = run.turn([], host);
    if (marks.length === 1 && before > 0) longest = Math.max(longest, before - vm.fuel);
  }
  if (result.status !== 'completed') throw new Error(`${does} ended with ${JSON.stringify(result)}`);
  const [from, to] = marks;
  return { units: from.fuel - to.fuel, bytes: to.bytes - from.bytes, microseconds: to.time - from.time, longest };
}
