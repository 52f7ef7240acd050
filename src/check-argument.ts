// Checks the arguments of the services: option keys, ids, names, numbers. Every error says what is wrong, where, and the limit.

import { ConfigurationError, InvalidArgumentError } from './errors.js';
import { didYouMean } from './nearest.js';

/** Characters of an execution id that a caller chooses. */
export const MAX_ID_LENGTH = 200;
/** Characters of a workflow, task, queue or signal name, and of a tag. */
export const MAX_NAME_LENGTH = 200;
/** Characters of an idempotency or deduplication key. */
export const MAX_KEY_LENGTH = 500;
/** Tags of one execution. */
export const MAX_TAGS = 32;

/** Refuses options that are not an object or have an unknown key. */
export function checkKeys<T extends object>(options: T | undefined, known: readonly string[], path: string): T {
  if (options === undefined || options === null) return {} as T;
  if (typeof options !== 'object' || Array.isArray(options)) {
    throw invalid('RHYTHM_OPTION_INVALID', path, `is ${describeValue(options)}, not an object of options. Options: ${known.join(', ')}.`);
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new InvalidArgumentError(
        'RHYTHM_OPTION_UNKNOWN',
        `${path}.${key}`,
        `Unknown option "${key}" in ${path}.${didYouMean(key, known)} Options: ${known.join(', ')}.`,
      );
    }
  }
  return options;
}

const RESERVED_IDS = ['key', 'cron'];

/** An id that a caller chose. `:` is reserved for the ids of children. */
export function checkId(value: unknown, path: string): string {
  const id = checkString(value, path, MAX_ID_LENGTH, 'RHYTHM_ID_INVALID');
  if (id.includes(':')) {
    throw invalid(
      'RHYTHM_ID_INVALID',
      path,
      `${quote(id)} contains ":", which is reserved for the ids of child executions. Use "-", "/" or "." instead.`,
    );
  }
  if (RESERVED_IDS.includes(id)) {
    throw invalid(
      'RHYTHM_ID_INVALID',
      path,
      `${quote(id)} is reserved: ids that begin with it are made from idempotency keys and schedules.`,
    );
  }
  return id;
}

/** The id of any existing execution, children included. */
export function checkAnyId(value: unknown, path: string): string {
  return checkString(value, path, 4_096, 'RHYTHM_ID_INVALID');
}

/** The name of a workflow, task, queue, signal or tag. */
export function checkName(value: unknown, path: string): string {
  return checkString(value, path, MAX_NAME_LENGTH, 'RHYTHM_NAME_INVALID');
}

/** What is started when an execution fails: a name, or the name with what it refers to. */
export type FailureHandler = string | { task: string } | { workflow: string };

/** A failure handler as a name and, if it was given, its type. */
export function checkFailureHandler(value: FailureHandler, path: string): { name: string; type?: 'task' | 'workflow' } {
  if (typeof value === 'string') return { name: checkName(value, path) };
  const { task, workflow } = checkKeys<{ task?: string; workflow?: string }>(value, ['task', 'workflow'], path);
  if ((task === undefined) === (workflow === undefined))
    throw invalid('RHYTHM_OPTION_INVALID', path, "is neither a name, { task: 'name' } nor { workflow: 'name' }.");
  return task === undefined
    ? { name: checkName(workflow, `${path}.workflow`), type: 'workflow' }
    : { name: checkName(task, `${path}.task`), type: 'task' };
}

/** A string of bounded length that PostgreSQL can store as text. */
export function checkString(value: unknown, path: string, maxLength: number, code: string): string {
  if (typeof value !== 'string') throw invalid(code, path, `is ${describeValue(value)}, not a string.`);
  if (value.trim() === '') throw invalid(code, path, 'is empty.');
  if (value.length > maxLength) throw invalid(code, path, `has ${value.length} characters; the limit is ${maxLength}.`);
  if (value.includes('\0'))
    throw invalid(code, path, `${quote(value)} contains a NUL character, which PostgreSQL cannot store in text. Remove it.`);
  if (hasLoneSurrogate(value))
    throw invalid(code, path, `${quote(value)} contains half of a surrogate pair, which UTF-8 cannot encode. Remove it.`);
  return value;
}

/** A whole number within bounds. */
export function checkInteger(value: unknown, path: string, min: number, max: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw invalid('RHYTHM_OPTION_INVALID', path, `is ${describeValue(value)}, not a whole number.`);
  }
  if (value < min || value > max) throw invalid('RHYTHM_OPTION_INVALID', path, `is ${value}; it must be between ${min} and ${max}.`);
  return value;
}

/** true or false. */
export function checkBoolean(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw invalid('RHYTHM_OPTION_INVALID', path, `is ${describeValue(value)}, not true or false.`);
  return value;
}

/** One of a few strings. */
export function checkChoice<const Choice extends string>(value: unknown, path: string, choices: readonly Choice[]): Choice {
  if (!choices.includes(value as Choice)) {
    throw invalid('RHYTHM_OPTION_INVALID', path, `is ${describeValue(value)}, not one of ${choices.map(quote).join(', ')}.`);
  }
  return value as Choice;
}

/** An array of distinct tags. */
export function checkTags(value: unknown, path: string): string[] {
  if (!Array.isArray(value)) throw invalid('RHYTHM_OPTION_INVALID', path, `is ${describeValue(value)}, not an array of tags.`);
  if (value.length > MAX_TAGS) throw invalid('RHYTHM_OPTION_INVALID', path, `has ${value.length} tags; the limit is ${MAX_TAGS}.`);
  return [...new Set(value.map((tag, index) => checkName(tag, `${path}[${index}]`)))];
}

/** Runs checks of what the application is built from, where a wrong value is an error of its configuration. */
export function asConfiguration<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new ConfigurationError(error.message, error.code);
    throw error;
  }
}

/** A value in a few words, for messages. */
export function describeValue(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean' || typeof value === 'number') return String(value);
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Whether a string contains half of a surrogate pair. */
export function hasLoneSurrogate(text: string): boolean {
  return /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text);
}

function invalid(code: string, path: string, message: string): InvalidArgumentError {
  return new InvalidArgumentError(code, path, `${path} ${message}`);
}

function quote(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
