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

// `(input, ctx)`, or parameters in any order with decorators.
// biome-ignore lint/suspicious/noExplicitAny: a decorator must accept methods whose parameters are any types
type TaskMethod = (...parameters: any[]) => unknown;
type TaskDecorator = <Method extends TaskMethod>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<Method>) => void;

/**
 * Marks a method `(input, ctx: TaskContext) => result` of any provider as a task. Its parameters may also be decorated with
 * `@TaskInput()` and `@TaskCtx()`.
 * Without a name the method's own name is used.
 *
 * @publicApi
 */
export function Task(name?: string, options?: TaskOptions): TaskDecorator;
export function Task(options: TaskOptions): TaskDecorator;
export function Task(nameOrOptions?: string | TaskOptions, maybeOptions: TaskOptions = {}): TaskDecorator {
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
