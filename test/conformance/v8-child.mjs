// Runs a list of cases in V8 (Node 24, UTC) with the durable calls stubbed, and prints the outcomes. Reads and writes JSON.
import { readFileSync } from 'node:fs';
import { setImmediate as nextMacrotask } from 'node:timers/promises';
import { formatWithOptions } from 'node:util';
import { durableCalls } from './v8-durable.mjs';

const { Timeline } = await import(new URL('./timeline.ts', import.meta.url));
const AsyncFunction = (async () => {}).constructor;
const RealDate = Date;
let clock = () => 0;
let onUnhandled = () => {};

RealDate.now = () => clock();
globalThis.Date = new Proxy(RealDate, {
  construct: (target, args) => (args.length === 0 ? new target(clock()) : new target(...args)),
  apply: () => new RealDate(clock()).toString(),
});
process.on('unhandledRejection', (error, promise) => onUnhandled(error, promise));

const results = [];
for (const each of JSON.parse(readFileSync(0, 'utf8'))) results.push(await runCase(each));
process.stdout.write(JSON.stringify(results));

async function runCase({ source, script }) {
  const timeline = new Timeline(script);
  const log = [];
  let outcome;
  clock = () => timeline.now;
  Math.random = () => timeline.random();
  const durable = durableCalls(timeline, [...script.withdrawn, ...script.muted]);
  const scope = {
    ...durable.globals,
    Inputs: script.inputs === undefined ? undefined : JSON.parse(script.inputs),
    Context: context(timeline),
    console: consoleInto(log),
  };
  scope.crypto = { randomUUID: () => timeline.uuid() };
  onUnhandled = (error, promise) => {
    if (!durable.owns(promise)) outcome ??= failure(error);
  };
  let body;
  try {
    body = new AsyncFunction('over$', ...Object.keys(scope), `'use strict'; ${entry(source)}`);
  } catch (error) {
    return { status: 'refused', error: `${error.name}: ${error.message}`, calls: [], log };
  }
  // A run is over when its main body settles; what other branches do at the same time is not part of it.
  const over = () => {
    Object.freeze(log);
    timeline.close();
  };
  const finished = (result) => {
    outcome ??= result;
    over();
  };
  body(over, ...Object.values(scope)).then(
    (value) => finished(completion(value, durable.toJsonText)),
    (error) => finished(failure(error)),
  );
  for (;;) {
    await nextMacrotask();
    if (outcome) break;
    const event = timeline.next();
    if (event === undefined) outcome = { status: 'stuck' };
    else durable.apply(event);
  }
  return { ...outcome, calls: timeline.calls, log };
}

// The two entry forms of a flow, as the equivalent ordinary JavaScript.
function entry(source) {
  if (/^workflow\s*\(/m.test(source))
    return `${source.replace(/^workflow\s*\(/m, 'async function workflow$(')}\n;return workflow$(Context, Inputs);`;
  if (/^async function main\s*\(/m.test(source) && !/^(?!async |function |const |let |\/\/|[ }\s]|$)/m.test(source))
    return `${source}\n;return main();`;
  return `try { ${source}\n} finally { over$(); }`;
}

function context(timeline) {
  const tags = Object.freeze(['test']);
  return Object.freeze({
    ...{ executionId: 'run', rootId: 'run', parentId: null, workflow: 'golden', version: 'v1' },
    ...{ startedAt: timeline.now, tags },
  });
}

function completion(value, toJsonText) {
  try {
    return { status: 'completed', output: toJsonText(value, 'the return value') };
  } catch (error) {
    return failure(error);
  }
}

function failure(error) {
  if (!(error instanceof Error)) return { status: 'failed', error: { name: 'Error', message: String(error) } };
  return { status: 'failed', error: { name: String(error.name), message: String(error.message) } };
}

function consoleInto(log) {
  const options = { compact: true, breakLength: Number.POSITIVE_INFINITY, depth: 4 };
  const print =
    (level) =>
    (...args) => {
      if (!Object.isFrozen(log)) log.push(`${level}: ${formatWithOptions(options, ...args.map(withoutStack))}`);
    };
  return Object.fromEntries(['debug', 'log', 'info', 'warn', 'error'].map((level) => [level, print(level)]));
}

function withoutStack(value) {
  if (value instanceof Error) value.stack = `${value.name}: ${value.message}`;
  return value;
}
