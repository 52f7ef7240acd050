// Checks one effect of a reply: its shape, its number, and that the flow is allowed what it names.

import type { Effect, FlowAllowList, FlowLimits, RetryOptions, TaskCallOptions, WorkflowCallOptions } from '../flow/index.js';
import { Checked, InvalidReply } from './checked.js';

/** What limits an effect. */
export interface EffectBounds {
  allow: FlowAllowList;
  limits: FlowLimits;
  /** The highest number of a durable call so far. */
  last: number;
}

// The limits of the VM itself (libs/flow/vm/durable.ts), and of the columns that numbers and dates are stored in.
export const LONGEST_NAME = 200;
const LONGEST_KEY = 500;
const LONGEST_ID = 200;
const LARGEST = 32_767;
export const LARGEST_CALL = 2_147_483_647;
const LATEST_DATE = 8.64e15;
const KINDS = ['task', 'workflow', 'timer', 'wait', 'withdraw', 'cancel', 'log'] as const;
const REASONS = ['signalled', 'lost', 'cancelled', 'ended'] as const;
const LEVELS = ['debug', 'log', 'info', 'warn', 'error'] as const;

/** Returns the effect with what belongs to it and nothing else; `payload` returns the text of an input. Throws InvalidReply. */
export function checkEffect(given: unknown, bounds: EffectBounds, payload: (index: unknown, what: string) => string): Effect {
  const effect = new Checked(given, 'an effect').object();
  const field = (name: string) => new Checked(effect[name], `"${name}" of an effect`);
  const kind = field('kind').oneOf(KINDS);
  if (kind === 'log')
    return {
      kind,
      level: field('level').oneOf(LEVELS),
      message: field('message').string(),
      at: field('at').number(-LATEST_DATE, LATEST_DATE),
    };
  // Those that refer to a call refer to one that was made.
  if (kind === 'withdraw') return { kind, id: field('id').integer(1, bounds.last), reason: field('reason').oneOf(REASONS) };
  if (kind === 'cancel') return { kind, id: field('id').integer(1, bounds.last) };
  const id = field('id').integer(bounds.last + 1, LARGEST_CALL);
  const input = effect.input === undefined ? undefined : payload(effect.input, 'an input');
  if (kind === 'task')
    return { kind, id, name: allowed(bounds, 'tasks', field('name')), input, options: taskOptions(effect.options, bounds) };
  if (kind === 'workflow')
    return { kind, id, name: allowed(bounds, 'workflows', field('name')), input, options: workflowOptions(effect.options, bounds) };
  if (kind === 'wait') {
    const signal = field('signal').name(LONGEST_NAME);
    return effect.timeoutMs === undefined
      ? { kind, id, signal }
      : { kind, id, signal, timeoutMs: field('timeoutMs').number(0, LATEST_DATE) };
  }
  return effect.at === undefined
    ? { kind, id, delayMs: field('delayMs').number(0, LATEST_DATE) }
    : { kind, id, at: field('at').number(-LATEST_DATE, LATEST_DATE) };
}

function allowed({ allow }: EffectBounds, kind: keyof FlowAllowList, name: Checked): string {
  const text = name.name(LONGEST_NAME);
  if (allow[kind]?.includes(text) === false) throw new InvalidReply(`it uses what its allow-list does not have (allow.${kind})`);
  return text;
}

function taskOptions(given: unknown, bounds: EffectBounds): TaskCallOptions {
  const options = new Checked(given, 'the options of a task').object();
  return present({
    ...commonOptions(options, bounds),
    retry: options.retry === undefined ? undefined : retryOptions(options.retry),
    idempotencyKey: optional(options, 'idempotencyKey', (key) => key.name(LONGEST_KEY)),
  });
}

function workflowOptions(given: unknown, bounds: EffectBounds): WorkflowCallOptions {
  const options = new Checked(given, 'the options of a workflow').object();
  return present({
    ...commonOptions(options, bounds),
    id: optional(options, 'id', ownId),
    detached: optional(options, 'detached', (flag) => flag.boolean()),
  });
}

function commonOptions(options: Record<string, unknown>, bounds: EffectBounds) {
  const duration = (value: Checked) => value.number(0, LATEST_DATE);
  return {
    queue: optional(options, 'queue', (name) => allowed(bounds, 'queues', name)),
    priority: optional(options, 'priority', (value) => value.integer(-LARGEST, LARGEST)),
    timeoutMs: optional(options, 'timeoutMs', duration),
    delayMs: optional(options, 'delayMs', duration),
  };
}

function retryOptions(given: unknown): RetryOptions {
  const retry = new Checked(given, 'the retry of a task').object();
  const duration = (value: Checked) => value.number(0, LATEST_DATE);
  return present({
    maxAttempts: optional(retry, 'maxAttempts', (value) => value.integer(1, LARGEST)),
    backoff: optional(retry, 'backoff', (value) => value.oneOf(['fixed', 'exponential'] as const)),
    delayMs: optional(retry, 'delayMs', duration),
    maxDelayMs: optional(retry, 'maxDelayMs', duration),
    jitter: optional(retry, 'jitter', (flag) => flag.boolean()),
  });
}

// `:` is reserved: an id with it could be that of another run's child.
function ownId(value: Checked): string {
  const id = value.name(LONGEST_ID);
  if (id.trim() === '' || id.includes(':') || id === 'key' || id === 'cron')
    throw new InvalidReply('it starts a child under an id that is reserved');
  return id;
}

function optional<T>(options: Record<string, unknown>, name: string, read: (value: Checked) => T): T | undefined {
  return options[name] === undefined ? undefined : read(new Checked(options[name], `the option "${name}"`));
}

function present<T extends object>(options: T): { [Key in keyof T]: Exclude<T[Key], undefined> } {
  for (const key of Object.keys(options) as (keyof T)[]) if (options[key] === undefined) delete options[key];
  return options as { [Key in keyof T]: Exclude<T[Key], undefined> };
}
