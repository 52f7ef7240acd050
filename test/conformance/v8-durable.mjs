// The durable calls of a flow as plain promises in V8, settled by the events of a timeline.

class FlowError extends Error {
  constructor(message, options) {
    super(message, options);
    Object.defineProperty(this, 'name', { value: this.constructor.name, configurable: true, writable: true });
  }
}
class TaskError extends FlowError {}
class WorkflowError extends FlowError {}
class TimeoutError extends FlowError {}
class CancelledError extends FlowError {}

export function durableCalls(timeline, lost) {
  /** Pending calls by number. */
  const pending = new Map();
  const stored = [];
  const promises = new WeakSet();
  let count = 0;

  function start(effect, Failure) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const id = ++count;
    const timeoutMessage = `No signal "${effect.signal}" arrived within ${effect.timeoutMs / 3_600_000}h`;
    pending.set(id, {
      resolve,
      reject,
      Failure,
      timeoutMessage,
      signal: effect.kind === 'wait' && !lost.includes(id) ? effect.signal : undefined,
    });
    promises.add(promise);
    timeline.record({ ...effect, id });
    return Object.assign(promise, { cancel: () => timeline.record({ kind: 'cancel', id }) });
  }
  const run =
    (kind, Failure) =>
    (name, input, options = {}) =>
      start({ kind, name, input: toJsonText(input, 'the input'), options: callOptions(options) }, Failure);
  const sleep = (ms) => start({ kind: 'timer', delayMs: Math.max(0, ms) });
  const until = (date) => start({ kind: 'timer', at: Number(date) });
  const when = (name, options = {}) => {
    const promise = start({ kind: 'wait', signal: name, timeoutMs: options.timeout === undefined ? undefined : duration(options.timeout) });
    const index = stored.findIndex((signal) => signal.name === name);
    if (index >= 0) deliver(count, stored.splice(index, 1)[0]);
    return promise;
  };
  const Task = {
    run: run('task', TaskError),
    all: (list) => Promise.all(list),
    any: (list) => Promise.any(list),
    race: (list) => Promise.race(list),
  };
  const Workflow = { run: run('workflow', WorkflowError) };
  const Timer = {
    sleep: (value) => (value instanceof Date ? until(value) : sleep(duration(value))),
    delay: (seconds) => sleep(seconds * 1000),
    until,
  };
  const Signal = { when, next: when };
  const globals = { Task, Workflow, Timer, Signal, TaskError, WorkflowError, TimeoutError, CancelledError };
  globals.task = (name, input) => Task.run(name, input);
  globals.sleep = (seconds) => Timer.delay(seconds);

  function deliver(id, signal) {
    pending.get(id).resolve(parsed(signal.payload));
    pending.delete(id);
  }
  function apply(event) {
    if (event.kind === 'cancel') {
      for (const { reject } of pending.values()) reject(new CancelledError('The execution was cancelled.'));
      pending.clear();
      return;
    }
    if (event.kind === 'signal') {
      const waiting = [...pending].find(([, call]) => call.signal === event.name);
      if (waiting) deliver(waiting[0], event);
      else stored.push(event);
      return;
    }
    const call = pending.get(event.id);
    if (!call) return;
    pending.delete(event.id);
    if (event.kind === 'timer') call.resolve();
    else if (event.kind === 'timeout') call.reject(new TimeoutError(call.timeoutMessage));
    else if (event.kind === 'completed') call.resolve(parsed(event.value));
    else call.reject(errorFrom(event.error, call.Failure));
  }
  return { globals, apply, toJsonText, owns: (promise) => promises.has(promise) };
}

function errorFrom(data, Failure) {
  const error = new Failure(data.message, data.cause ? { cause: errorFrom(data.cause, FlowError) } : undefined);
  for (const key of ['code', 'data', 'attempts']) if (data[key] !== undefined) error[key] = data[key];
  return error;
}

function parsed(text) {
  return text === undefined ? undefined : JSON.parse(text);
}

function duration(value) {
  if (typeof value === 'number') return value;
  const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };
  return value.split(' ').reduce((sum, part) => sum + Number.parseFloat(part) * units[part.replace(/^[\d.]+/, '')], 0);
}

function callOptions(options) {
  const { timeout, delay, ...rest } = options;
  if (timeout !== undefined) rest.timeoutMs = duration(timeout);
  if (delay !== undefined) rest.delayMs = duration(delay);
  return rest;
}

// What JSON.stringify writes, except that it never loses a value silently.
function toJsonText(value, what) {
  return JSON.stringify(value, (_key, each) => {
    if (typeof each === 'number' && !Number.isFinite(each)) throw new TypeError(`${what} holds ${each}`);
    if (typeof each === 'function' || each instanceof Map || each instanceof Set)
      throw new TypeError(`${what} holds something that is not JSON`);
    return each;
  });
}
