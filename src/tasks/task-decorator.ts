// `@Task()`: marks a provider method as a task that flows and services can call by name.

import { Reflector } from '@nestjs/core';
import type { TaskOptions } from './task-options.js';

/** What the decorator stores for a method. */
export interface TaskMark {
  name: string | undefined;
  options: TaskOptions;
}

/** The metadata of a task. Its key is fixed, so a task marked through another copy of the package (ESM and CommonJS) is found. */
export const TaskMetadata = Reflector.createDecorator<TaskMark>({ key: 'rhythm:task' });

// `(input, ctx)`, or parameters in any order with decorators. With a schema, the first is what the schema returns.
type TaskDecorator<Input, Result> = <Method extends TaskMethod<Input, Result>>(
  target: object,
  key: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;
// biome-ignore lint/suspicious/noExplicitAny: a decorator must accept methods whose other parameters are any types
type TaskMethod<Input, Result> = (input: Input, ...rest: any[]) => Result | Promise<Result>;

/**
 * Marks a method `(input, ctx: TaskContext) => result` of any provider as a task. Its parameters may also be decorated with
 * `@TaskInput()` and `@TaskCtx()`.
 * Without a name the method's own name is used.
 *
 * @publicApi
 */
// biome-ignore-start lint/suspicious/noExplicitAny: without schemas a method may have any types
export function Task<Input = any, Result = any>(name?: string, options?: TaskOptions<Input, Result>): TaskDecorator<Input, Result>;
export function Task<Input = any, Result = any>(options: TaskOptions<Input, Result>): TaskDecorator<Input, Result>;
export function Task(nameOrOptions?: string | TaskOptions, maybeOptions: TaskOptions = {}): TaskDecorator<any, any> {
  // biome-ignore-end lint/suspicious/noExplicitAny: see above
  const options = typeof nameOrOptions === 'object' ? nameOrOptions : maybeOptions;
  const name = typeof nameOrOptions === 'string' ? nameOrOptions : options.name;
  return (target, key, descriptor) => {
    // A decorator of the later standard is called with a method and a context object instead.
    if (typeof (descriptor as { value?: unknown } | undefined)?.value !== 'function') {
      throw new TypeError(
        `@Task was not given a method${typeof key === 'object' ? '' : ` ("${String(key)}")`}. Put it on a method of a class, and set "experimentalDecorators": true in tsconfig.json: Nest needs it too.`,
      );
    }
    TaskMetadata({ name, options })(target, key, descriptor);
  };
}
