// Writes programs that call every built-in with unlikely receivers and arguments; the result of each call is part of the program's result.
import { FAMILIES } from '../../libs/flow/builtins/index.js';
import { NamespaceObject, NativeFunction, type Value } from '../../libs/flow/vm/values.js';

const PRIMITIVES = [
  'undefined',
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1',
  '2',
  '-1',
  '2.5',
  '100',
  'NaN',
  'Infinity',
  '-Infinity',
  '1e21',
  '4294967295.5',
];
const STRINGS = [
  "''",
  "'a'",
  "'abcabc'",
  "' x\\n'",
  "'5'",
  "'-1.5e3'",
  "'\\u{1F600}z'",
  "'\\ud800'",
  "'2026-02-03'",
  '\'[1,{"a":null}]\'',
  "'%41'",
  "'NFD'",
];
const ARRAYS = [
  '[]',
  '[1, 2, 3]',
  '[3, , 1]',
  "['b', 'a', undefined, 10, 9]",
  '[[1, [2]], [3]]',
  "[['k', 1], ['l', 2]]",
  'Object.freeze([2, 1])',
];
const OBJECTS = ['{}', '{ a: 1, b: { c: 2 } }', "{ length: 2, 0: 'z', 1: 'y' }", "{ toString: () => 'ts', valueOf: () => 3 }"];
const UNCONVERTIBLE = '{ valueOf: () => ({}), toString: () => ({}) }';
const COLLECTIONS = ["new Map([[1, 'x'], ['k', [1]]])", "new Set([1, 'a', NaN])", '[4, 5].values()', "new Map([['a', 1]]).entries()"];
const DATES = ['new Date(0)', 'new Date(1700000000123)', 'new Date(NaN)'];
const ERRORS = ["new Error('m')", "Object.assign(new TypeError('t'), { code: 5 })"];
const CALLBACKS = [
  '(x) => x',
  '(a, b) => b - a',
  '(x, i) => i % 2',
  "() => { throw new RangeError('cb'); }",
  '(...all) => all.length',
  'String',
  '(k, v) => v',
];

const RECEIVERS: Record<string, readonly string[]> = {
  array: ARRAYS,
  string: STRINGS,
  number: ['(5)', '(-1.25)', '(1e21)', '(0.000001234)', 'NaN'],
  boolean: ['true'],
  date: DATES,
  map: [COLLECTIONS[0]],
  set: [COLLECTIONS[1]],
  iterator: COLLECTIONS.slice(2),
  error: ERRORS,
  object: ['({ a: 1, b: undefined })', '[1]', "'x'", 'new Map()'],
};
/** Functions are passed only to what calls them: Flow cannot convert them to strings. */
const TAKES_CALLBACK: Record<string, number> = {
  ...{
    every: 0,
    filter: 0,
    find: 0,
    findIndex: 0,
    findLast: 0,
    findLastIndex: 0,
    flatMap: 0,
    forEach: 0,
    map: 0,
    reduce: 0,
    reduceRight: 0,
    some: 0,
  },
  ...{ sort: 0, toSorted: 0, from: 1, groupBy: 1, replace: 1, replaceAll: 1, parse: 1, stringify: 1 },
};
const ANYTHING = [...PRIMITIVES, ...STRINGS, ...ARRAYS, ...OBJECTS, UNCONVERTIBLE, ...COLLECTIONS, ...DATES, ...ERRORS];

function poolOf(name: string, index: number, luck: number): readonly string[] {
  // A later edition of JavaScript passes a third argument to the reviver of JSON.parse.
  if (name === 'parse' && index === 1) return CALLBACKS.filter((each) => !each.includes('...all'));
  // JavaScript leaves the last digit of a power to the engine, and that of V8 has changed: 2 ** 2.5 differs between Node 20 and 24.
  if (name === 'pow' && index === 1) return ['0', '1', '2', '3', 'NaN', 'Infinity', '-Infinity', 'undefined', 'null', "'2'"];
  if (TAKES_CALLBACK[name] === index && luck > 0) return CALLBACKS;
  // Flow has no primitives wrapped in objects.
  return name === 'assign' && index === 0 ? OBJECTS : ANYTHING;
}

interface Callee {
  /** Ways to write the call up to its arguments. */
  forms: string[];
  name: string;
}

const CALLEES = allCallees();

/** A program of a few dozen calls. */
export function callsFrom(tape: readonly number[]): string {
  let at = 0;
  const pick = (count: number) => (tape[at++] ?? 0) % count;
  const choose = (list: readonly string[]) => list[pick(list.length)];
  const lines: string[] = [];
  while (at < tape.length) {
    const { forms, name } = CALLEES[pick(CALLEES.length)];
    const args = Array.from({ length: pick(4) }, (_, index) => choose(poolOf(name, index, pick(4))));
    lines.push(`t(() => ${choose(forms)}(${args.join(', ')}));`);
  }
  return [
    'const out = [];',
    'const t = (f) => { try { out.push(show(f())); } catch (e) { out.push(e.name); } };',
    ...lines,
    "await Task.run('restore');",
    'return out;',
  ].join('\n');
}

function allCallees(): Callee[] {
  const found: Callee[] = [];
  const visit = (path: string, value: Value) => {
    if (value instanceof NamespaceObject && path !== 'console')
      for (const [key, member] of Object.entries(value.members)) visit(`${path}.${key}`, member);
    if (!(value instanceof NativeFunction)) return;
    const { construct, constructSteps } = value.definition;
    found.push({ name: path.slice(path.lastIndexOf('.') + 1), forms: construct || constructSteps ? [path, `new ${path}`] : [path] });
    for (const [key, member] of Object.entries(value.statics)) visit(`${path}.${key}`, member);
  };
  for (const { globals, types } of FAMILIES) {
    // V8 has these kinds of error only as stubs.
    for (const [name, value] of Object.entries(globals ?? {}))
      if (!/^(Task|Workflow|Timeout|Cancelled)Error$/.test(name)) visit(name, value);
    for (const [type, table] of Object.entries(types ?? {})) {
      for (const name of Object.keys(table.methods))
        found.push({ name, forms: (RECEIVERS[type] ?? []).map((receiver) => `${receiver}.${name}`) });
    }
  }
  return found.filter(({ forms, name }) => forms.length > 0 && name !== 'Object');
}
