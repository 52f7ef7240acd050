// Wraps a task method in Nest's guards, pipes, interceptors and exception filters.

import type { ArgumentsHost, CanActivate, PipeTransform } from '@nestjs/common';
import { type ContextId, ExternalContextCreator } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import type { TaskContext } from '../../libs/engine/index.js';
import { RHYTHM_CONTEXT } from './rhythm-execution-context.js';
import { CONTEXT_PARAMETER, INPUT_PARAMETER } from './task-parameters.js';
import { isRefusal, refusedTask } from './task-refusal.js';

export type TaskMethod = (input: unknown, context: TaskContext) => unknown;

/** The method that is wrapped, and where its enhancers are found. */
export interface WrappedMethod {
  task: string;
  instance: object;
  key: string;
  moduleKey: string;
  contextId: ContextId | undefined;
  inquirerId: string | undefined;
}

/** Where the parameters of task methods are described for Nest. */
export const TASK_PARAMETERS = 'rhythm:task-parameters';

type GuardsFn = (args: unknown[]) => Promise<void>;
type PipesFn = (args: unknown[], ...params: unknown[]) => Promise<void>;
type Described = Parameters<ExternalContextCreator['createPipesFn']>[1];

/** Nest's own creator, which also remembers what guards and pipes refused. One is made for each module with tasks. */
export class TaskContextCreator extends ExternalContextCreator {
  private readonly refusals = new WeakMap<object, 'guard' | 'pipe'>();

  constructor(
    nest: ExternalContextCreator,
    private readonly moduleKey: string,
  ) {
    super(
      nest['guardsContextCreator'],
      nest['guardsConsumer'],
      nest['interceptorsContextCreator'],
      nest['interceptorsConsumer'],
      nest['modulesContainer'],
      nest['pipesContextCreator'],
      nest['pipesConsumer'],
      nest['filtersContextCreator'],
    );
  }

  /** The method with its enhancers, in the order of an HTTP route: guards, interceptors, pipes, the method, filters. */
  wrap({ task, instance, key, moduleKey, contextId, inquirerId }: WrappedMethod): TaskMethod {
    const method = (instance as Record<string, (...args: unknown[]) => unknown>)[key]!;
    const options = { guards: true, interceptors: true, filters: false };
    const called = this.create(instance, method, key, TASK_PARAMETERS, PARAMETERS, contextId, inquirerId, options, RHYTHM_CONTEXT);
    const filters = this['filtersContextCreator'].create(instance, method as never, moduleKey, contextId, inquirerId);
    const next = async (error: unknown, host: ArgumentsHost) => {
      const refusedBy = this.refusals.get(Object(error));
      try {
        return await replyOf(filters.invokeCustomFilters(error as Error, host), error);
      } catch (thrown) {
        throw refusedBy ? refusedTask(task, refusedBy, thrown) : thrown;
      }
    };
    return this['externalErrorProxy'].createProxy(called, { next } as never, RHYTHM_CONTEXT as never);
  }

  // Nest looks for a module that provides the class: that finds no controller, and the wrong one of two modules.
  override getContextModuleKey(): string {
    return this.moduleKey;
  }

  override createGuardsFn<TContext extends string>(
    guards: CanActivate[],
    instance: object,
    callback: (...args: unknown[]) => unknown,
    contextType?: TContext,
  ): GuardsFn | null {
    const guard = super.createGuardsFn(guards, instance as never, callback, contextType) as GuardsFn | null;
    return guard && ((args) => this.remembering('guard', guard(args)));
  }

  // As in an HTTP route, pipes are not for what describes the request: a pipe must not change or refuse the context.
  override createPipesFn(pipes: PipeTransform[], parameters: Described): PipesFn | null {
    const isContext = ({ type }: { type: unknown }) => type === CONTEXT_PARAMETER;
    const context = super.createPipesFn([], parameters.filter(isContext));
    const rest = super.createPipesFn(
      pipes,
      parameters.filter((each) => !isContext(each)),
    );
    if (!context && !rest) return null;
    return async (args, ...params) => {
      await context?.(args, ...params);
      if (rest) await this.remembering('pipe', rest(args, ...params));
    };
  }

  private async remembering(by: 'guard' | 'pipe', work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (isRefusal(error)) this.refusals.set(error, by);
      throw error;
    }
  }
}

/** What a filter returns is the result of the task, unless that is nothing or an error. */
async function replyOf(filtered: unknown, error: unknown): Promise<unknown> {
  const reply = isObservable(filtered) ? await lastValueFrom(filtered) : await filtered;
  if (reply === undefined || reply === null) throw error;
  if (reply instanceof Error) throw reply;
  return reply;
}

const PARAMETERS = {
  exchangeKeyForValue(type: number, property: unknown, [input, context]: unknown[]): unknown {
    if (type === CONTEXT_PARAMETER) return context;
    if (type !== INPUT_PARAMETER) return undefined;
    return typeof property === 'string' ? (input as Record<string, unknown> | null | undefined)?.[property] : input;
  },
};
