// A task method with the schemas of its input and its result around it.

import { NonRetryableError } from '../errors.js';
import { type SchemaIssue, type StandardSchema, validated } from './standard-schema.js';
import type { TaskMethod } from './task-context.creator.js';

/** The schemas of a task. */
export interface TaskSchemas {
  input?: StandardSchema;
  output?: StandardSchema;
}

/**
 * What the input's schema refuses never reaches the task, its guards or its pipes; what the result's schema refuses is not stored.
 * Neither is tried again: the same value would be refused again.
 */
export function validatedTask(task: string, { input, output }: TaskSchemas, run: TaskMethod): TaskMethod {
  let result = run;
  if (output) {
    const refuse = refusing(`The result of task "${task}" does not fit its schema`, 'RHYTHM_TASK_OUTPUT');
    const check = (value: unknown) => validated(output, value, itself, refuse);
    const inner = result;
    result = (value, context) => {
      const returned = inner(value, context);
      return isThenable(returned) ? Promise.resolve(returned).then(check) : check(returned);
    };
  }
  if (input) {
    const refuse = refusing(`The input of task "${task}" was refused`, 'RHYTHM_TASK_INPUT');
    const inner = result;
    result = (value, context) => validated(input, value, (valid) => inner(valid, context), refuse);
  }
  return result;
}

function refusing(what: string, code: string) {
  return (issues: SchemaIssue[]): never => {
    const shown = issues.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`));
    throw new NonRetryableError(`${what}: ${shown.join('; ')}`, { code, data: { issues } });
  };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === 'function';
}

function itself(value: unknown): unknown {
  return value;
}
