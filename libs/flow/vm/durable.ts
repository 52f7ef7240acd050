// Task, Workflow, Timer and Signal: the calls whose promises outlive the process.

import { CALL_OPTIONS, RETRY_OPTIONS } from '../call-options.js';
import { DurationError, parseDuration } from '../duration.js';
import { nearestName } from '../nearest-name.js';
import type { RetryOptions, TaskCallOptions, WorkflowCallOptions } from '../turn.js';
import { type BuiltinFamily, type Machine, namespace, native } from './native.js';
import { preview, writePayload } from './payload.js';
import { combinatorNative } from './promise-builtins.js';
import { DateObject, PlainObject, type PromiseObject, type Value } from './values.js';
import type { Vm } from './vm.js';

/** The latest time that a Date can hold. */
const LATEST_DATE = 8.64e15;
/** Names and keys are stored and indexed as text, which cannot contain NUL. */
const LONGEST_NAME = 200;
const LONGEST_KEY = 500;
const LONGEST_ID = 200;
/** How many names of an allow-list a message shows. */
const MOST_LISTED = 20;
/** The largest priority or number of attempts that can be stored. */
const LARGEST = 32_767;
const NO_OPTIONS = Object.freeze({});

function runTask(machine: Machine, _receiver: Value, [name, input, options]: readonly Value[]): PromiseObject {
  const vm = machine as Vm;
  const taskName = requireName(vm, name, 'Task.run');
  requireAllowed(vm, 'tasks', taskName);
  const text = writePayload(vm, input, 'input', vm.limits.payloadBytes);
  return vm.calls.start(vm, taskName, { kind: 'task', id: 0, name: taskName, input: text, options: taskOptions(vm, options) });
}

function taskOptions(vm: Vm, options: Value): TaskCallOptions {
  if (options === undefined) return NO_OPTIONS;
  const given = new Options(vm, options, 'Task.run', CALL_OPTIONS['Task.run']);
  return compact({
    queue: given.queue(),
    priority: given.number('priority'),
    timeoutMs: given.duration('timeout'),
    delayMs: given.duration('delay'),
    retry: given.retry(),
    idempotencyKey: given.string('idempotencyKey', LONGEST_KEY),
  });
}

function runWorkflow(machine: Machine, _receiver: Value, [name, input, options]: readonly Value[]): PromiseObject {
  const vm = machine as Vm;
  const workflowName = requireName(vm, name, 'Workflow.run');
  requireAllowed(vm, 'workflows', workflowName);
  const text = writePayload(vm, input, 'input', vm.limits.payloadBytes);
  const parsed = workflowOptions(vm, options);
  return vm.calls.start(vm, workflowName, { kind: 'workflow', id: 0, name: workflowName, input: text, options: parsed });
}

function workflowOptions(vm: Vm, options: Value): WorkflowCallOptions {
  if (options === undefined) return NO_OPTIONS;
  const given = new Options(vm, options, 'Workflow.run', CALL_OPTIONS['Workflow.run']);
  return compact({
    queue: given.queue(),
    priority: given.number('priority'),
    timeoutMs: given.duration('timeout'),
    delayMs: given.duration('delay'),
    id: given.id(),
    detached: given.flag('detached'),
  });
}

function sleep(machine: Machine, _receiver: Value, [time]: readonly Value[]): PromiseObject {
  const vm = machine as Vm;
  if (time instanceof DateObject) return sleepUntil(vm, time.time, time);
  return sleepFor(vm, durationOf(vm, time, 'Timer.sleep'));
}

function delay(machine: Machine, _receiver: Value, [seconds]: readonly Value[]): PromiseObject {
  const vm = machine as Vm;
  // Checked as it was written: the message of a negative number must not show its milliseconds.
  if (typeof seconds !== 'number' || !(seconds >= 0)) return sleepFor(vm, durationOf(vm, seconds, 'Timer.delay'));
  return sleepFor(vm, durationOf(vm, seconds * 1_000, 'Timer.delay'));
}

function until(machine: Machine, _receiver: Value, [date]: readonly Value[]): PromiseObject {
  const vm = machine as Vm;
  if (date instanceof DateObject) return sleepUntil(vm, date.time, date);
  return sleepUntil(vm, typeof date === 'string' ? Date.parse(date) : typeof date === 'number' ? date : Number.NaN, date);
}

function sleepFor(vm: Vm, delayMs: number): PromiseObject {
  return vm.calls.start(vm, `${delayMs} ms`, { kind: 'timer', id: 0, delayMs });
}

function sleepUntil(vm: Vm, at: number, given: Value): PromiseObject {
  if (!(Math.abs(at) <= LATEST_DATE)) {
    const shown =
      given instanceof DateObject
        ? 'Invalid Date (check what it was made from)'
        : typeof given === 'string'
          ? JSON.stringify(preview(given))
          : preview(given);
    throw vm.error('TypeError', `A timer needs a valid date, not ${shown}. Write new Date(…) or a string such as "2030-01-31T09:00:00Z"`);
  }
  return vm.calls.start(vm, new Date(at).toISOString(), { kind: 'timer', id: 0, at });
}

function waitForSignal(machine: Machine, _receiver: Value, [name, options]: readonly Value[]): PromiseObject {
  const vm = machine as Vm;
  const signal = requireName(vm, name, 'Signal.when');
  const timeoutMs = new Options(vm, options, 'Signal.when', CALL_OPTIONS['Signal.when']).duration('timeout');
  return vm.calls.start(vm, signal, compact({ kind: 'wait' as const, id: 0, signal, timeoutMs }));
}

function requireName(vm: Vm, name: Value, what: string): string {
  if (typeof name !== 'string' || name === '') throw vm.error('TypeError', `${what} needs a name, not ${preview(name)}`);
  if (!isStorable(name))
    throw vm.error('TypeError', `${what} was given a name that is longer than ${LONGEST_NAME} characters or contains NUL`);
  return name;
}

const KIND_NAMES = { tasks: 'Task', workflows: 'Workflow', queues: 'Queue' };

function requireAllowed(vm: Vm, kind: keyof typeof KIND_NAMES, name: string): void {
  const allowed = vm.calls.allow[kind];
  if (!allowed || allowed.includes(name)) return;
  const list = allowed.length === 0 ? 'nothing' : allowed.slice(0, MOST_LISTED).join(', ') + (allowed.length > MOST_LISTED ? ', …' : '');
  throw vm.error('TypeError', `${KIND_NAMES[kind]} "${name}" is not allowed for this flow: its allow.${kind} lists ${list}`);
}

function isStorable(text: string, longest = LONGEST_NAME): boolean {
  return text.length <= longest && !text.includes('\0');
}

function durationOf(vm: Vm, value: Value, what: string): number {
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    throw vm.error(typeof value === 'number' ? 'RangeError' : 'TypeError', `${what}: ${error.message}`);
  }
}

function compact<T extends object>(options: T): T {
  for (const key of Object.keys(options) as (keyof T)[]) if (options[key] === undefined) delete options[key];
  return options;
}

/** The options object of a durable call, read strictly: a misspelled option must not be ignored. */
class Options {
  constructor(
    private readonly vm: Vm,
    private readonly given: Value,
    private readonly what: string,
    known: readonly string[],
  ) {
    if (given === undefined) return;
    if (!(given instanceof PlainObject)) throw vm.error('TypeError', `The options of ${what} must be an object, not ${preview(given)}`);
    for (const key of Object.keys(given.props)) {
      if (known.includes(key)) continue;
      const nearest = nearestName(key, known);
      throw vm.error(
        'TypeError',
        `${what} has no option "${key}".${nearest ? ` Did you mean ${nearest}?` : ` Its options are ${known.join(', ')}.`}`,
      );
    }
  }

  private read(key: string): Value {
    return this.given instanceof PlainObject ? this.given.props[key] : undefined;
  }
  private wrong(key: string, expected: string): Error {
    return this.vm.error('TypeError', `Option "${key}" of ${this.what} must be ${expected}, not ${preview(this.read(key))}`);
  }
  string(key: string, longest = LONGEST_NAME): string | undefined {
    const value = this.read(key);
    if (value === undefined || (typeof value === 'string' && value !== '' && isStorable(value, longest))) return value;
    throw this.wrong(key, `a string of up to ${longest} characters without NUL`);
  }
  /** Of a child. `:` is reserved for the ids that durable calls are given. */
  id(): string | undefined {
    const id = this.string('id');
    const isFree = (text: string) => text.trim() !== '' && !text.includes(':') && text !== 'key' && text !== 'cron';
    if (id === undefined || (id.length <= LONGEST_ID && isFree(id))) return id;
    throw this.wrong('id', `a string of up to ${LONGEST_ID} characters without ":", other than "key" and "cron"`);
  }
  number(key: string, least = -LARGEST): number | undefined {
    const value = this.read(key);
    if (value === undefined || (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= LARGEST)) return value;
    throw this.wrong(key, `a whole number from ${least} to ${LARGEST}`);
  }
  flag(key: string): boolean | undefined {
    const value = this.read(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false');
  }
  duration(key: string): number | undefined {
    const value = this.read(key);
    return value === undefined ? undefined : durationOf(this.vm, value, `Option "${key}" of ${this.what}`);
  }
  queue(): string | undefined {
    const queue = this.string('queue');
    if (queue !== undefined) requireAllowed(this.vm, 'queues', queue);
    return queue;
  }
  retry(): RetryOptions | undefined {
    const value = this.read('retry');
    if (value === undefined) return undefined;
    const given = new Options(this.vm, value, `the retry of ${this.what}`, RETRY_OPTIONS);
    const backoff = given.string('backoff');
    if (backoff !== undefined && backoff !== 'fixed' && backoff !== 'exponential') throw given.wrong('backoff', '"fixed" or "exponential"');
    return compact({
      maxAttempts: given.number('maxAttempts', 1),
      backoff: backoff as RetryOptions['backoff'],
      delayMs: given.duration('delay'),
      maxDelayMs: given.duration('maxDelay'),
      jitter: given.flag('jitter'),
    });
  }
}

const DURABLE_COST = 50;
const when = native({ name: 'Signal.when', length: 2, cost: DURABLE_COST, call: waitForSignal });

export const DURABLE_FAMILY: BuiltinFamily = {
  globals: {
    Task: namespace('Task', {
      run: native({ name: 'Task.run', length: 3, cost: DURABLE_COST, call: runTask }),
      all: combinatorNative('Task.all', 'all'),
      any: combinatorNative('Task.any', 'any'),
      race: combinatorNative('Task.race', 'race'),
    }),
    Workflow: namespace('Workflow', { run: native({ name: 'Workflow.run', length: 3, cost: DURABLE_COST, call: runWorkflow }) }),
    Timer: namespace('Timer', {
      sleep: native({ name: 'Timer.sleep', length: 1, cost: DURABLE_COST, call: sleep }),
      delay: native({ name: 'Timer.delay', length: 1, cost: DURABLE_COST, call: delay }),
      until: native({ name: 'Timer.until', length: 1, cost: DURABLE_COST, call: until }),
    }),
    Signal: namespace('Signal', { when, next: when }),
    task: native({
      name: 'task',
      length: 2,
      cost: DURABLE_COST,
      call: (vm, receiver, [name, input]) => runTask(vm, receiver, [name, input]),
    }),
    sleep: native({ name: 'sleep', length: 1, cost: DURABLE_COST, call: delay }),
  },
};
