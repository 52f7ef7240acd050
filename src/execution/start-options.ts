// The options of a start, and how they become an execution to be stored.

import type { EntityManager } from 'typeorm';
import { type PayloadLimits, toJsonText } from '../../libs/engine/index.js';
import {
  type ExecutionOptions,
  type ExecutionRecord,
  keyedId,
  type NewExecution,
  newId,
  type StoredRetry,
} from '../../libs/store/index.js';
import {
  checkBoolean,
  checkChoice,
  checkId,
  checkInteger,
  checkKeys,
  checkName,
  checkString,
  checkTags,
  type FailureHandler,
  MAX_KEY_LENGTH,
} from '../check-argument.js';
import { type Duration, parseDuration, parseInstant, parseTimeout } from '../duration.js';
import { InvalidArgumentError } from '../errors.js';
import { MAX_PRIORITY, MIN_PRIORITY } from '../tasks/task-policy.js';
import type { StartTarget } from './target.resolver.js';

const CONFLICT_POLICIES = ['return', 'fail', 'restart-ended', 'cancel-running'] as const;

/**
 * What a start does whose id or key belongs to an execution already:
 * - `'return'`: returns it; if its type, name or input differs, the start fails with an `ExecutionConflictError`.
 * - `'fail'`: fails with an `ExecutionConflictError` in any case.
 * - `'restart-ended'`: one that has ended is replaced by the new run; one that has not is returned as with `'return'`.
 * - `'cancel-running'`: one that has not ended is cancelled first; when it has ended, the new run replaces it and the call resolves.
 */
export type ConflictPolicy = (typeof CONFLICT_POLICIES)[number];

/** Options of `start`, `startMany` and `schedule`. */
export interface StartOptions {
  /** Needed only when a workflow and a task share the name, or when a task is run by another application. */
  type?: 'workflow' | 'task';
  /** Your own id: starting again with the same id and input returns the same run. `:` is reserved. */
  id?: string;
  /** Like `id`, but unique per name only; a task also gets it as `ctx.idempotencyKey`. */
  idempotencyKey?: string;
  /** What happens if an execution with the id or the key exists; default `'return'`. See `ConflictPolicy`. */
  onConflict?: ConflictPolicy;
  queue?: string;
  /** Higher runs first; −32,768 … 32,767, default 0. */
  priority?: number;
  /** Starts it this much later … */
  delay?: Duration;
  /** … or at this time. */
  runAt?: Date | number | string;
  /** Of a workflow: limit for the whole run. Of a task: limit for one attempt. */
  timeout?: Duration;
  /** How long it may wait to be started before it fails. */
  startTimeout?: Duration;
  /** Limit for all attempts of a task and the waits between them. */
  totalTimeout?: Duration;
  /** Tasks only: replaces what their declaration says. */
  retry?: StartRetryOptions;
  /**
   * A task or workflow that is started when this execution fails for good, with `{ id, type, name, error, input }`; instead of the one
   * of its declaration. `null` for none.
   */
  onFailure?: FailureHandler | null;
  /** Up to 32 strings to find it by. */
  tags?: readonly string[];
  /** Workflows only: a stored version (its hash, or a unique beginning of it) instead of the usual one. */
  version?: string;
  /** Of an open transaction: the execution exists if and only if it commits. */
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
  'onConflict',
  'queue',
  'priority',
  'delay',
  'runAt',
  'timeout',
  'startTimeout',
  'totalTimeout',
  'retry',
  'onFailure',
  'tags',
  'version',
  'manager',
];
const RETRY_KEYS = ['maxAttempts', 'backoff', 'delay', 'maxDelay', 'jitter'];

/** Checks the shape of the options before the target is looked up. */
export function checkStartOptions(given: StartOptions | undefined, path: string): StartOptions {
  const options = checkKeys<StartOptions>(given, KEYS, path);
  if (options.type !== undefined) checkChoice(options.type, `${path}.type`, ['workflow', 'task']);
  if (options.id !== undefined && options.idempotencyKey !== undefined) {
    throw invalid(path, 'has both id and idempotencyKey. Give one: each of them ensures that it is started once');
  }
  if (options.onConflict !== undefined) {
    checkChoice(options.onConflict, `${path}.onConflict`, CONFLICT_POLICIES);
    if (options.id === undefined && options.idempotencyKey === undefined)
      throw invalid(`${path}.onConflict`, 'is for starts with an id or an idempotencyKey. Without one, every start is a new run');
    if (options.onConflict === 'cancel-running' && options.manager !== undefined)
      throw invalid(
        `${path}.onConflict`,
        "is 'cancel-running', which waits for a run to end and cannot be part of a transaction. Leave out manager",
      );
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
    throw invalid(`${path}.retry`, 'is for tasks. Continue a failed workflow with ExecutionService.retry(id), or catch errors in it');
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

/** A run that has ended as a new one: without the delay that it had. */
export function executionAgain(record: ExecutionRecord, version: string | undefined, input: string | undefined): NewExecution {
  const { id, type, name, queue, priority, tags, options } = record;
  const { delayMs: _delay, runAt: _at, ...kept } = options ?? {};
  return { id, type, targetName: name, queue, priority, version, tags, options: kept, input: input ?? record.input ?? undefined };
}

function executionId(target: StartTarget, options: StartOptions, path: string): string {
  if (options.id !== undefined) return checkId(options.id, `${path}.id`);
  if (options.idempotencyKey === undefined) return newId();
  return keyedId(target.name, checkString(options.idempotencyKey, `${path}.idempotencyKey`, MAX_KEY_LENGTH, 'RHYTHM_ID_INVALID'));
}

function executionOptions(target: StartTarget, options: StartOptions, path: string): ExecutionOptions {
  const { policy } = target;
  const isTask = target.type === 'task';
  const read = (key: 'timeout' | 'startTimeout' | 'totalTimeout') =>
    options[key] === undefined ? undefined : parseTimeout(options[key], `${path}.${key}`);
  const timeoutMs = read('timeout');
  const startTimeoutMs = read('startTimeout') ?? policy?.startTimeoutMs;
  const totalTimeoutMs = read('totalTimeout') ?? (isTask ? policy?.totalTimeoutMs : timeoutMs);
  const stored: ExecutionOptions = {};
  if (target.onFailure !== undefined) stored.onFailure = target.onFailure;
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
  if (retry.backoff !== undefined) stored.backoff = checkChoice(retry.backoff, `${path}.backoff`, ['fixed', 'exponential']);
  if (retry.delay !== undefined) stored.delayMs = parseDuration(retry.delay, `${path}.delay`);
  if (retry.maxDelay !== undefined) stored.maxDelayMs = parseDuration(retry.maxDelay, `${path}.maxDelay`);
  if (retry.jitter !== undefined) stored.jitter = checkBoolean(retry.jitter, `${path}.jitter`);
  return stored;
}

function invalid(path: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError('RHYTHM_OPTION_INVALID', path, `${path} ${message}.`);
}
