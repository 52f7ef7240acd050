// Finds every `@Task()` method of the application's providers and controllers, once, at boot.

import { Inject, Injectable } from '@nestjs/common';
import { ContextIdFactory, ModuleRef, ModulesContainer } from '@nestjs/core';
import type { TaskContext } from '../../libs/engine/index.js';
import { checkName } from '../check-argument.js';
import type { RhythmSettings } from '../config/schema.js';
import { ConfigurationError, InvalidArgumentError } from '../errors.js';
import type { TaskRegistry } from './task.registry.js';
import { type TaskMark, taskMark } from './task-decorator.js';
import { taskPolicy } from './task-policy.js';

type Module = ModulesContainer extends Map<string, infer M> ? M : never;
type Wrapper = Module['providers'] extends Map<unknown, infer W> ? W : never;
type Method = (input: unknown, context: TaskContext) => unknown;

/** Fills the registry from the application's providers. */
@Injectable()
export class TaskExplorer {
  constructor(@Inject(ModulesContainer) private readonly modules: ModulesContainer) {}

  /** Finds the tasks; throws a `ConfigurationError` on a duplicate name or a wrong option. */
  explore(registry: TaskRegistry, defaults: RhythmSettings['task']): void {
    for (const module of new Set(this.modules.values())) {
      for (const wrapper of [...module.providers.values(), ...module.controllers.values()]) {
        // An alias (useExisting) shows the same methods a second time.
        if (wrapper.isAlias) continue;
        for (const [key, mark] of markedMethods(wrapper)) {
          const place = `${wrapper.name ?? 'provider'}.${key} (${module.name})`;
          const name = taskName(mark.name ?? key, place);
          registry.add({ name, policy: taskPolicy(mark.options, defaults, place), place, run: caller(module, wrapper, key) });
        }
      }
    }
  }
}

function markedMethods(wrapper: Wrapper): Map<string, TaskMark> {
  const found = new Map<string, TaskMark>();
  const seen = new Set<string>();
  // A class is read from its prototype, so a request-scoped provider needs no instance; a factory's product is its own witness.
  const isClass = wrapper.metatype && !wrapper.inject && typeof wrapper.metatype === 'function';
  let level: object | null = isClass ? ((wrapper.metatype as { prototype?: object }).prototype ?? null) : startOf(wrapper.instance);
  for (; level && level !== Object.prototype; level = Object.getPrototypeOf(level)) {
    for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(level))) {
      if (seen.has(key)) continue;
      seen.add(key);
      const mark = taskMark(descriptor.value);
      if (mark) found.set(key, mark);
    }
  }
  return found;
}

function startOf(instance: unknown): object | null {
  return typeof instance === 'object' ? instance : null;
}

function caller(module: Module, wrapper: Wrapper, key: string) {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) {
    return (input: unknown, context: TaskContext) => (wrapper.instance as Record<string, Method>)[key]!(input, context);
  }
  const moduleRef = module.providers.get(ModuleRef)!.instance as ModuleRef;
  return async (input: unknown, context: TaskContext) => {
    const contextId = ContextIdFactory.create();
    moduleRef.registerRequestByContextId({ input, context }, contextId);
    const instance = await moduleRef.resolve<Record<string, Method>>(wrapper.token as string, contextId, { strict: true });
    return instance[key]!(input, context);
  };
}

function taskName(name: string, place: string): string {
  try {
    return checkName(name, `The task name of ${place}`);
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new ConfigurationError(error.message, error.code);
    throw error;
  }
}
