// The options of a start: what they are, and how they become an execution to be stored.

import type { EntityManager } from 'typeorm';
import { type PayloadLimits, toJsonText } from '../../libs/engine/index.js';
import { type ExecutionOptions, keyedId, type NewExecution, newId, type StoredRetry } from '../../libs/store/index.js';
import {
  checkBoolean,
  checkId,
  checkInteger,
  checkKeys,
  checkName,
  checkTags,
  checkText,
  checkWord,
  MAX_KEY_LENGTH,
} from '../check-argument.js';
import { type Duration, parseBound, parseDuration, parseInstant } from '../duration.js';
import { InvalidArgumentError } from '../errors.js';
import { MAX_PRIORITY, MIN_PRIORITY } from '../tasks/task-policy.js';
import type { StartTarget } from './target.resolver.js';

/** Options of `start`, `startMany` and `schedule`. */
export interface StartOptions {
  /** Needed only when a workflow and a task share the name, or when a task is run by another application. */
  type?: 'workflow' | 'task';
  /** Your own id: starting again with the same id and input gives the same run back. `:` is reserved. */
  id?: string;
  /** As `id`, but only unique per name; also handed to a task as `ctx.idempotencyKey`. */
  idempotencyKey?: string;
  queue?: string;
  /** Higher runs first; −32,768 … 32,767, default 0. */
  priority?: number;
  /** Start this much later … */
  delay?: Duration;
  /** … or at this time. */
  runAt?: Date | number | string;
  /** Of a workflow: bound of the whole run. Of a task: bound of one attempt. */
  timeout?: Duration;
  /** How long it may wait to be started before it fails. */
  startTimeout?: Duration;
  /** Bound of all attempts of a task and the waits between them. */
  totalTimeout?: Duration;
  /** Tasks only: in place of what their declaration says. */
  retry?: StartRetryOptions;
  /** Up to 32 words to find it by. */
  tags?: readonly string[];
  /** Workflows only: a stored version (hash, or a unique beginning of it) in place of the usual one. */
  version?: string;
  /** Of an open transaction: the execution exists if that commits, and only then. */
  manager?: EntityManager;
}

/** The retry policy of one start. */
export interface StartRetryOptions {
  maxAttempts?: number;
  backoff?: 'fixed' | 'exponential';
  delay?: Duration;
  maxDelay?: Duration;
  jitter?: boolean;
}

const KEYS = [
  'type',
  'id',
  'idempotencyKey',
  'queue',
  'priority',
  'delay',
  'runAt',
  'timeout',
  'startTimeout',
  'totalTimeout',
  'retry',
  'tags',
  'version',
  'manager',
];
const RETRY_KEYS = ['maxAttempts', 'backoff', 'delay', 'maxDelay', 'jitter'];

/** Checks the shape of the options before anything is looked up. */
export function checkStartOptions(given: StartOptions | undefined, path: string): StartOptions {
  const options = checkKeys<StartOptions>(given, KEYS, path);
  if (options.type !== undefined) checkWord(options.type, `${path}.type`, ['workflow', 'task']);
  if (options.id !== undefined && options.idempotencyKey !== undefined) {
    throw invalid(path, 'has both id and idempotencyKey. Give one: each of them makes the start happen once');
  }
  if (options.delay !== undefined && options.runAt !== undefined) throw invalid(path, 'has both delay and runAt. Give one');
  return options;
}

/** The execution to be stored. */
export function newExecution(
  target: StartTarget,
  input: unknown,
  options: StartOptions,
  path: string,
  limits: PayloadLimits,
): NewExecution {
  if (target.type === 'workflow' && options.retry !== undefined) {
    throw invalid(`${path}.retry`, 'is for tasks. A workflow is continued with ExecutionService.retry(id), or catches its errors itself');
  }
  const { policy } = target;
  return {
    id: executionId(target, options, path),
    fresh: options.id === undefined && options.idempotencyKey === undefined,
    type: target.type,
    targetName: target.name,
    queue: options.queue === undefined ? (policy?.queue ?? 'default') : checkName(options.queue, `${path}.queue`),
    priority:
      options.priority === undefined
        ? (policy?.priority ?? 0)
        : checkInteger(options.priority, `${path}.priority`, MIN_PRIORITY, MAX_PRIORITY),
    input: toJsonText(input, path.replace(/options$/, 'input'), limits),
    version: target.version,
    tags: options.tags === undefined ? undefined : checkTags(options.tags, `${path}.tags`),
    options: executionOptions(target, options, path),
  };
}

function executionId(target: StartTarget, options: StartOptions, path: string): string {
  if (options.id !== undefined) return checkId(options.id, `${path}.id`);
  if (options.idempotencyKey === undefined) return newId();
  return keyedId(target.name, checkText(options.idempotencyKey, `${path}.idempotencyKey`, MAX_KEY_LENGTH, 'RHYTHM_ID_INVALID'));
}

function executionOptions(target: StartTarget, options: StartOptions, path: string): ExecutionOptions {
  const { policy } = target;
  const isTask = target.type === 'task';
  const bound = (key: 'timeout' | 'startTimeout' | 'totalTimeout') =>
    options[key] === undefined ? undefined : parseBound(options[key], `${path}.${key}`);
  const timeoutMs = bound('timeout');
  const startTimeoutMs = bound('startTimeout') ?? policy?.startTimeoutMs;
  const totalTimeoutMs = bound('totalTimeout') ?? (isTask ? policy?.totalTimeoutMs : timeoutMs);
  const stored: ExecutionOptions = {};
  if (isTask && timeoutMs !== undefined) stored.timeoutMs = timeoutMs;
  if (startTimeoutMs !== undefined) stored.startTimeoutMs = startTimeoutMs;
  if (totalTimeoutMs !== undefined) stored.totalTimeoutMs = totalTimeoutMs;
  if (options.delay !== undefined) stored.delayMs = parseDuration(options.delay, `${path}.delay`);
  if (options.runAt !== undefined) stored.runAt = parseInstant(options.runAt, `${path}.runAt`).toISOString();
  if (options.idempotencyKey !== undefined) stored.idempotencyKey = options.idempotencyKey;
  if (options.retry !== undefined) stored.retry = storedRetry(options.retry, `${path}.retry`);
  return stored;
}

function storedRetry(given: StartRetryOptions, path: string): StoredRetry {
  const retry = checkKeys<StartRetryOptions>(given, RETRY_KEYS, path);
  const stored: StoredRetry = {};
  if (retry.maxAttempts !== undefined) stored.maxAttempts = checkInteger(retry.maxAttempts, `${path}.maxAttempts`, 1, 10_000);
  if (retry.backoff !== undefined) stored.backoff = checkWord(retry.backoff, `${path}.backoff`, ['fixed', 'exponential']);
  if (retry.delay !== undefined) stored.delayMs = parseDuration(retry.delay, `${path}.delay`);
  if (retry.maxDelay !== undefined) stored.maxDelayMs = parseDuration(retry.maxDelay, `${path}.maxDelay`);
  if (retry.jitter !== undefined) stored.jitter = checkBoolean(retry.jitter, `${path}.jitter`);
  return stored;
}

function invalid(path: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError('RHYTHM_OPTION_INVALID', path, `${path} ${message}.`);
}
