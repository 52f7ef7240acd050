// Checks the options of a `@Task()` and fills in the defaults from the settings.

import type { TaskPolicy } from '../../libs/engine/index.js';
import { asConfiguration, checkBoolean, checkChoice, checkInteger, checkKeys, checkName, describeValue } from '../check-argument.js';
import type { RhythmSettings } from '../config/schema.js';
import { parseDuration, parseTimeout } from '../duration.js';
import { ConfigurationError, InvalidArgumentError } from '../errors.js';
import { isStandardSchema } from './standard-schema.js';
import type { TaskOptions, TaskRetryOptions } from './task-options.js';
import type { TaskSchemas } from './validated-task.js';

const OPTION_KEYS = [
  ...['name', 'queue', 'priority', 'timeout', 'startTimeout', 'totalTimeout', 'retry', 'transactional'],
  ...['input', 'output', 'onFailure'],
];
const RETRY_KEYS = ['maxAttempts', 'backoff', 'delay', 'maxDelay', 'jitter', 'retryOn'];

/** Priorities are small integers in the store. */
export const MIN_PRIORITY = -32_768;
export const MAX_PRIORITY = 32_767;

/** The schemas of a task's input and result. */
export function taskSchemas({ input, output }: TaskOptions, place: string): TaskSchemas {
  for (const [key, schema] of Object.entries({ input, output })) {
    if (schema === undefined || isStandardSchema(schema)) continue;
    throw new ConfigurationError(
      `@Task on ${place}: ${key} is ${describeValue(schema)}, not a schema. Give one of a library with Standard Schema, such as zod 4, valibot or arktype. A class with decorators of class-validator goes with @UsePipes(new ValidationPipe()).`,
      'RHYTHM_OPTION_INVALID',
    );
  }
  return { input, output };
}

/** The policy of a task; `place` (`Orders.charge`) is named in the message when an option is wrong. */
export function taskPolicy(given: TaskOptions, defaults: RhythmSettings['task'], place: string): TaskPolicy {
  return asConfiguration(() => {
    const options = checkKeys<TaskOptions>(given, OPTION_KEYS, `@Task on ${place}`);
    const at = (key: string) => `@Task on ${place}: ${key}`;
    const ms = (key: 'timeout' | 'startTimeout' | 'totalTimeout') => {
      const value = options[key];
      return value === undefined ? undefined : parseTimeout(value, at(key));
    };
    return {
      queue: options.queue === undefined ? 'default' : checkName(options.queue, at('queue')),
      priority: options.priority === undefined ? 0 : checkInteger(options.priority, at('priority'), MIN_PRIORITY, MAX_PRIORITY),
      timeoutMs: ms('timeout'),
      startTimeoutMs: ms('startTimeout'),
      totalTimeoutMs: ms('totalTimeout'),
      ...retryPolicy(options.retry, defaults, at('retry')),
      transactional: options.transactional === undefined ? false : checkBoolean(options.transactional, at('transactional')),
    };
  });
}

function retryPolicy(given: TaskRetryOptions | undefined, defaults: RhythmSettings['task'], path: string) {
  const retry = checkKeys<TaskRetryOptions>(given, RETRY_KEYS, path);
  if (retry.retryOn !== undefined && typeof retry.retryOn !== 'function') {
    throw new InvalidArgumentError('RHYTHM_OPTION_INVALID', `${path}.retryOn`, `${path}.retryOn is not a function (error) => boolean.`);
  }
  const delayMs = retry.delay === undefined ? defaults.retryDelay : parseDuration(retry.delay, `${path}.delay`);
  return {
    maxAttempts: retry.maxAttempts === undefined ? defaults.maxAttempts : checkInteger(retry.maxAttempts, `${path}.maxAttempts`, 1, 10_000),
    backoff:
      retry.backoff === undefined ? ('exponential' as const) : checkChoice(retry.backoff, `${path}.backoff`, ['fixed', 'exponential']),
    delayMs,
    maxDelayMs:
      retry.maxDelay === undefined ? Math.max(defaults.maxRetryDelay, delayMs) : parseDuration(retry.maxDelay, `${path}.maxDelay`),
    jitter: retry.jitter === undefined ? true : checkBoolean(retry.jitter, `${path}.jitter`),
    retryOn: retry.retryOn,
  };
}
