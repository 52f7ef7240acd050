// No flow reaches a host object: every way that leads there in JavaScript is refused, returns undefined, or is plain data.
import { afterEach, describe, expect, it } from '@jest/globals';
import { compile, type FlowEvent, FlowSyntaxError } from '../../libs/flow/index.js';
import { begin, errorOf, outputOf, turnOf } from '../support/flow-driver.js';

const POLLUTED = ['polluted', 'isAdmin', 'x'];

afterEach(() => {
  for (const key of POLLUTED) {
    for (const prototype of [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype, Error.prototype]) {
      expect(key in prototype).toBe(false);
    }
  }
  expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12);
});

/** What a flow may end with when it tries: a refusal at compile time or a TypeError. Anything else is reported. */
function attempt(source: string): string {
  try {
    compile(source);
  } catch (error) {
    if (error instanceof FlowSyntaxError) return 'refused';
    throw error;
  }
  const { result } = begin(source);
  if (result.status === 'failed') return result.error.code === 'FLOW_INTERNAL' ? 'INTERNAL' : result.error.name;
  return result.status === 'completed' ? `returned ${result.output}` : result.status;
}

// Keys computed at run time, so that the compiler cannot see them.
const HIDDEN_KEYS = ['constructor', '__proto__', 'prototype', '__defineGetter__', '__lookupGetter__', '__defineSetter__'];
const RECEIVERS = [
  '({})',
  '[]',
  '""',
  '(1)',
  'true',
  '(() => 1)',
  '(async () => 1)',
  'Math',
  'JSON',
  'Object',
  'Array',
  'Promise',
  'Promise.resolve(1)',
  'new Map()',
  'new Set()',
  'new Date()',
  'new Error("x")',
  '[].values()',
  'new Map().entries()',
  'console',
  'Task',
  'Context',
  'Context.tags',
  'Inputs',
  '[].map',
  'Object.keys',
  'new Error("x").stack',
  'Task.run("x")',
  'Promise.withResolvers().resolve',
];

describe('a name that would lead to the host', () => {
  it.each(RECEIVERS)('does not lead there from %s', (receiver) => {
    for (const key of HIDDEN_KEYS) {
      const halves = `${JSON.stringify(key.slice(0, 4))} + ${JSON.stringify(key.slice(4))}`;
      for (const read of [
        `const k = ${halves}; return typeof (${receiver})[k]`,
        `const k = ${halves}; const { [k]: found } = ${receiver}; return typeof found`,
        `const k = ${halves}; return typeof ${receiver}?.[k]`,
        `const k = { toString: () => ${halves} }; return typeof (${receiver})[k]`,
        `const k = [${halves}]; return typeof (${receiver})[k]`,
      ]) {
        expect(`${key}: ${attempt(read)}`).toMatch(/: (TypeError|refused|returned "undefined")$/);
      }
    }
  });

  it.each([
    '({}).constructor.constructor("return process")()',
    '[].constructor.from([1])',
    '"".constructor.fromCharCode(1)',
    '(() => 1).constructor("return 1")()',
    '(async () => 1).constructor("return 1")()',
    '[].map.constructor("return 1")()',
    '[].map.call([1], (x) => x)',
    '[].map.apply([1], [(x) => x])',
    '[].map.bind([1])',
    'Object.getPrototypeOf({})',
    'Object.setPrototypeOf({}, null)',
    'Object.defineProperty({}, "x", { get: () => 1 })',
    'Object.create(null)',
    'Object.getOwnPropertyDescriptor({ a: 1 }, "a")',
    'Array.prototype.polluted = 1',
    'Object.prototype.polluted = 1',
    '({}).__proto__.polluted = 1',
    'Math.max.polluted = 1',
    'Math.polluted = 1',
    'Object.assign(Object, { polluted: 1 })',
    'Object.assign(Math.max, { polluted: 1 })',
    'delete Math.max; delete Object.keys',
    'Promise.prototype.then = () => 1',
    'Promise.resolve(1).then = () => 1',
    'new Map().entries().next = () => 1',
    'Error.captureStackTrace({})',
    'Error.prepareStackTrace = (e, frames) => frames',
    'Error.stackTraceLimit = 100',
    'new Function("return 1")()',
    'Reflect.ownKeys({})',
    'globalThis.process',
    'new Proxy({}, {})',
    'eval("1")',
    'import("node:fs")',
    'Symbol.iterator in []',
  ])('is refused or a TypeError: %s', (expression) => {
    expect(attempt(`return ${expression}`)).toMatch(/^(refused|TypeError)$/);
  });
});

describe('data with dangerous names is only data', () => {
  const EVIL =
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"isAdmin":true}},"then":"no","toJSON":1,"prototype":2,"valueOf":3,"toString":4}';
  const LOOK =
    'return [Object.keys(x), x.polluted, x.isAdmin, ({}).polluted, ({}).isAdmin, JSON.stringify(x) === JSON.stringify({ ...x })]';
  const KEYS = ['__proto__', 'constructor', 'then', 'toJSON', 'prototype', 'valueOf', 'toString'];
  const SEEN = [KEYS, null, null, null, null, true];

  it('in inputs', () => {
    expect(outputOf(`const x = Inputs; ${LOOK}`, { inputs: JSON.parse(EVIL) })).toEqual(SEEN);
  });

  it.each<[string, string, FlowEvent]>([
    ['a result of a task', 'const x = await Task.run("t")', { kind: 'completed', id: 1, value: EVIL }],
    ['a result of a child', 'const x = await Workflow.run("t")', { kind: 'completed', id: 1, value: EVIL }],
    ['a payload of a signal', 'const x = await Signal.when("t")', { kind: 'signal', key: 'k', name: 't', payload: EVIL }],
    [
      'the data of an error',
      'let x; try { await Task.run("t") } catch (e) { x = e.data }',
      { kind: 'failed', id: 1, error: { name: 'Error', message: 'm', data: JSON.parse(EVIL) } },
    ],
  ])('in %s', (_what, source, event) => {
    const { run } = begin(`${source}; ${LOOK}`);
    expect(turnOf(run, [event])).toMatchObject({ status: 'completed', output: JSON.stringify(SEEN) });
  });

  it.each([
    ['JSON.parse', 'JSON.parse(text)'],
    ['structuredClone', 'structuredClone(JSON.parse(text))'],
    ['Object.fromEntries', 'Object.fromEntries(Object.entries(JSON.parse(text)))'],
    ['spread', '({ ...JSON.parse(text) })'],
    ['rest', '(({ ...rest }) => rest)(JSON.parse(text))'],
    ['a reviver', 'JSON.parse(text, (k, v) => v)'],
  ])('through %s', (_what, expression) => {
    expect(outputOf(`const text = Inputs; const x = ${expression}; ${LOOK}`, { inputs: EVIL })).toEqual(SEEN);
  });

  it('through groupBy, Map and computed keys', () => {
    const source = `const k = '__pro' + 'to__'; const groups = Object.groupBy([1], () => k); const made = { [k]: { polluted: 1 } }; const map = new Map([[k, 1], ['constructor', 2]])
      return [Object.keys(groups), Object.keys(made), made.polluted, Object.fromEntries(map).polluted, Object.keys(Object.fromEntries(map)), ({}).polluted]`;
    expect(outputOf(source)).toEqual([['__proto__'], ['__proto__'], null, null, ['__proto__', 'constructor'], null]);
  });

  it('and never a prototype when it is assigned', () => {
    expect(attempt(`const k = '__pro' + 'to__'; const o = {}; o[k] = { polluted: 1 }; return o.polluted`)).toBe('TypeError');
    expect(attempt(`Object.assign({}, JSON.parse('{"__proto__":{"polluted":1}}')); return ({}).polluted`)).toMatch(
      /^(TypeError|returned undefined)$/,
    );
  });

  it('a host function, a cycle or an accessor in the data of an error stays outside', () => {
    const cycle: Record<string, unknown> = { fn: () => process, big: 1n };
    cycle.self = cycle;
    for (const data of [cycle, { fn: () => process }, () => process, Symbol('x')]) {
      const { run } = begin(`try { await Task.run("t") } catch (e) { return [typeof e.data, typeof e.data?.fn, JSON.stringify(e.data)] }`);
      const result = turnOf(run, [{ kind: 'failed', id: 1, error: { name: 'Error', message: 'm', data } }]);
      expect(result.status).toBe('completed');
      expect(JSON.stringify(result)).not.toMatch(/function|process/);
    }
  });
});

describe('errors of built-ins', () => {
  it.each([
    'null.x',
    'undefined()',
    '(1)()',
    '[].reduce((a) => a)',
    'new Array(-1)',
    '"x".repeat(-1)',
    '(1).toFixed(101)',
    'JSON.parse("{")',
    'decodeURIComponent("%")',
    'new Map([1])',
    'Object.keys(null)',
    'structuredClone(() => 1)',
    'Object.freeze([1]).push(2)',
    '({ toString: 1, valueOf: 1 }) + ""',
    'new Date(NaN).toISOString()',
    'Task.run("t", NaN)',
    'Task.run(1)',
    'const t = Timer.sleep("never".trim())',
    'const t = Timer.until(1e300)',
    'Signal.when("x", { timeout: -Math.abs(1) })',
    'Promise.all.x.y',
    '"x".normalize("y")',
    'Task.run("\\0")',
    'Task.run("x".repeat(1000))',
    'Task.run("t", 1, { priority: 1e300 })',
    'Task.run("t", 1, { ["x".repeat(1e5)]: 1 })',
  ])('reveal nothing about the host: %s', (expression) => {
    const source = `try { ${expression} } catch (e) {
      return { name: e.name, message: e.message, stack: e.stack, cause: e.cause === undefined, is: e instanceof Error, keys: Object.keys(e), own: [e.fileName, e.lineNumber, e.code] } }
      return 'nothing was thrown'`;
    const seen = outputOf(source) as { name: string; stack: string; cause: boolean; is: boolean };
    expect(seen).toMatchObject({ name: expect.stringMatching(/Error$/), cause: true, is: true });
    expect(JSON.stringify(seen)).not.toMatch(/node:|\.ts|\.js|libs\/flow|file:|Vm\.|InternalError/);
    expect(seen.stack).toMatch(/^\w+: [\s\S]*\n {4}at main \(spec\.flow:1:\d+\)$/);
  });

  it('an uncaught one shows the stack of the flow only', () => {
    const { stack } = errorOf('function inner() { null.x }\nfunction outer() { inner() }\nouter()');
    expect(stack).toMatch(
      /^TypeError: .*\n {4}at inner \(spec\.flow:1:\d+\)\n {4}at outer \(spec\.flow:2:\d+\)\n {4}at main \(spec\.flow:3:\d+\)$/,
    );
  });
});

describe('runs share nothing', () => {
  it('what one run tries to change in the built-ins, another does not see', () => {
    const things = 'const k = "x"; const things = [Object.keys, Math, Promise.all, [].map, JSON, Task, console, Promise];';
    expect(outputOf(`${things} let failed = 0; for (const each of things) try { each[k] = 1 } catch { failed++ } return failed`)).toBe(8);
    expect(outputOf(`${things} return things.every((each) => each[k] === undefined && !(k in each))`)).toBe(true);
  });
});
