// Finds every `@Task()` method of the application's providers and controllers, once, at boot.

import { Injectable } from '@nestjs/common';
import { ContextIdFactory, DiscoveryService, MetadataScanner, ModuleRef, Reflector } from '@nestjs/core';
import { asConfiguration, checkFailureHandler, checkName } from '../check-argument.js';
import type { RhythmSettings } from '../config/schema.js';
import type { TaskRegistry } from './task.registry.js';
import type { TaskMethod } from './task-context.creator.js';
import { TaskMetadata } from './task-decorator.js';
import { type FoundTask, type GlobalEnhancers, TaskEnhancers, type Wrapper } from './task-enhancers.js';
import { taskPolicy, taskSchemas } from './task-policy.js';
import { validatedTask } from './validated-task.js';

type Methods = Record<string, TaskMethod>;

/** Fills the registry from the application's providers and controllers. */
@Injectable()
export class TaskExplorer {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
    private readonly moduleRef: ModuleRef,
  ) {}

  /**
   * Finds the tasks; throws a `ConfigurationError` on a duplicate name, a wrong option, or an enhancer that cannot be created.
   * `app` are the kinds of app-wide enhancers that tasks have too.
   */
  explore(registry: TaskRegistry, defaults: RhythmSettings['task'], app?: GlobalEnhancers): void {
    const enhancers = new TaskEnhancers(this.moduleRef, app);
    for (const wrapper of new Set([...this.discovery.getProviders(), ...this.discovery.getControllers()])) {
      // An alias (useExisting) has the same methods a second time.
      if (wrapper.isAlias) continue;
      const methods = methodsOf(wrapper);
      for (const key of methods ? this.scanner.getAllMethodNames(methods) : []) {
        const mark = this.reflector.get(TaskMetadata, methods![key]!);
        if (!mark) continue;
        const place = `${wrapper.name ?? 'provider'}.${key} (${wrapper.host?.name})`;
        const name = asConfiguration(() => checkName(mark.name ?? key, `The task name of ${place}`));
        const policy = taskPolicy(mark.options, defaults, place);
        const { onFailure } = mark.options;
        if (onFailure !== undefined) asConfiguration(() => checkFailureHandler(onFailure, `@Task on ${place}: onFailure`));
        const owner = (typeof wrapper.metatype === 'function' && !wrapper.inject ? wrapper.metatype : methods!.constructor) as object;
        const found: FoundTask = { name, place, wrapper, owner, key, method: methods![key]! };
        const run = validatedTask(name, taskSchemas(mark.options, place), caller(found, enhancers));
        registry.add({ name, policy, place, onFailure, run });
      }
    }
  }
}

// A class has its methods without an instance, which a request-scoped provider does not have yet; a factory has what it made.
function methodsOf({ metatype, inject, instance }: Wrapper): Methods | null {
  if (typeof metatype === 'function' && !inject) return metatype.prototype ?? null;
  return typeof instance === 'object' ? instance : null;
}

function caller(found: FoundTask, enhancers: TaskEnhancers): TaskMethod {
  const enhanced = enhancers.around(found);
  if (enhanced) return enhanced;
  const { wrapper, key } = found;
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) {
    return (input, context) => (wrapper.instance as Methods)[key]!(input, context);
  }
  return async (input, context) => {
    const instance = await enhancers.resolve(found, ContextIdFactory.create(), { input, context });
    return (instance as Methods)[key]!(input, context);
  };
}
