// Finds every `@Task()` method of the application's providers and controllers, once, at boot.

import { Injectable } from '@nestjs/common';
import { ContextIdFactory, DiscoveryService, MetadataScanner, ModuleRef, Reflector } from '@nestjs/core';
import type { TaskContext } from '../../libs/engine/index.js';
import { asConfiguration, checkFailureHandler, checkName } from '../check-argument.js';
import type { RhythmSettings } from '../config/schema.js';
import type { TaskRegistry } from './task.registry.js';
import { TaskMetadata } from './task-decorator.js';
import { taskPolicy } from './task-policy.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];
type Method = (input: unknown, context: TaskContext) => unknown;
type Methods = Record<string, Method>;

/** Fills the registry from the application's providers and controllers. */
@Injectable()
export class TaskExplorer {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  /** Finds the tasks; throws a `ConfigurationError` on a duplicate name or a wrong option. */
  explore(registry: TaskRegistry, defaults: RhythmSettings['task']): void {
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
        registry.add({ name, policy, place, onFailure, run: caller(wrapper, key) });
      }
    }
  }
}

// A class has its methods without an instance, which a request-scoped provider does not have yet; a factory has what it made.
function methodsOf({ metatype, inject, instance }: Wrapper): Methods | null {
  if (typeof metatype === 'function' && !inject) return metatype.prototype ?? null;
  return typeof instance === 'object' ? instance : null;
}

function caller(wrapper: Wrapper, key: string): Method {
  if (wrapper.isDependencyTreeStatic() && !wrapper.isTransient) {
    return (input, context) => (wrapper.instance as Methods)[key]!(input, context);
  }
  const moduleRef = wrapper.host!.getProviderByKey<ModuleRef>(ModuleRef).instance;
  return async (input, context) => {
    const contextId = ContextIdFactory.create();
    moduleRef.registerRequestByContextId({ input, context }, contextId);
    const instance = await moduleRef.resolve<Methods>(wrapper.token as string, contextId, { strict: true });
    return instance[key]!(input, context);
  };
}
