// Which guards, pipes, interceptors and exception filters a task has, and the method with them around it.

import {
  ApplicationConfig,
  type ContextId,
  ContextIdFactory,
  type DiscoveryService,
  ExternalContextCreator,
  ModuleRef,
} from '@nestjs/core';
import type { TaskContext } from '../../libs/engine/index.js';
import { ConfigurationError } from '../errors.js';
import { TASK_PARAMETERS, TaskContextCreator, type TaskMethod } from './task-context.creator.js';
import { CONTEXT_PARAMETER, INPUT_PARAMETER, parametersOf } from './task-parameters.js';

export type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** App-wide enhancers (`app.useGlobalPipes()`, `APP_PIPE` and the like) that tasks have too; none by default. */
export interface GlobalEnhancers {
  guards?: boolean;
  pipes?: boolean;
  interceptors?: boolean;
  filters?: boolean;
}

/** A task as it was found. */
export interface FoundTask {
  name: string;
  /** `Billing.charge (AppModule)`, for messages. */
  place: string;
  wrapper: Wrapper;
  /** The class that has the method. */
  owner: object;
  key: string;
  method: object;
}

// Nest's keys of what its decorators store, with what a class of that kind is called.
const KINDS = [
  ['__guards__', 'guard'],
  ['__pipes__', 'pipe'],
  ['__interceptors__', 'interceptor'],
  ['__exceptionFilters__', 'exception filter'],
] as const;
/** In the key of a parameter whose decorator is made with `createParamDecorator`. */
const CUSTOM_PARAMETER = '__customRouteArgs__';
/** `(input, ctx)`: the parameters of a method without parameter decorators. */
const PLAIN = {
  [`${INPUT_PARAMETER}:0`]: { index: 0, data: undefined, pipes: [] },
  [`${CONTEXT_PARAMETER}:1`]: { index: 1, data: undefined, pipes: [] },
};

export class TaskEnhancers {
  private readonly nest: ExternalContextCreator;
  private readonly app: AppWideEnhancers;
  private readonly creators = new Map<string, TaskContextCreator>();

  constructor(moduleRef: ModuleRef, chosen: GlobalEnhancers = {}) {
    const container = moduleRef['container'];
    this.app = new AppWideEnhancers(container.applicationConfig ?? new ApplicationConfig(), chosen);
    // Nest's creator with the same modules, and no other app-wide enhancers than those chosen.
    this.nest = ExternalContextCreator.fromContainer(Object.create(container, { applicationConfig: { value: this.app } }));
  }

  /** The task with its enhancers; undefined for one that has none, which is then called directly. */
  around(task: FoundTask): TaskMethod | undefined {
    const declared = this.declaredOn(task);
    const parameters = this.parametersOf(task);
    if (declared.length === 0 && !parameters && !this.app.hasAny()) return undefined;
    Reflect.defineMetadata(TASK_PARAMETERS, parameters ?? PLAIN, task.owner, task.key);
    const { wrapper } = task;
    const isShared = wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
    if (isShared && this.app.requestScoped().length === 0) {
      const transient = declared.filter((each) => each?.isTransient);
      // An enhancer that Nest has not made for this provider would be called without its dependencies.
      for (const each of transient) if (!each!.getStaticTransientInstances().some((made) => made?.isResolved)) throw notMade(task, each!);
      return this.wrap(task, wrapper.instance as object, undefined, transient.length > 0 ? wrapper.id : undefined);
    }
    return (input, context) => this.callInContext(task, input, context);
  }

  /** An instance of the task's class for one call, with what is request-scoped or transient below it. */
  async resolve({ wrapper }: FoundTask, contextId: ContextId, request: object): Promise<object> {
    const moduleRef = moduleRefOf(wrapper);
    moduleRef.registerRequestByContextId(request, contextId);
    for (const each of this.app.requestScoped()) await moduleRefOf(each).resolve(each.token as string, contextId, { strict: true });
    return moduleRef.resolve<object>(wrapper.token as string, contextId, { strict: true });
  }

  private async callInContext(task: FoundTask, input: unknown, context: TaskContext): Promise<unknown> {
    const contextId = ContextIdFactory.create();
    const instance = await this.resolve(task, contextId, { input, context });
    return this.wrap(task, instance, contextId, task.wrapper.id)(input, context);
  }

  private wrap({ name, key, wrapper }: FoundTask, instance: object, contextId?: ContextId, inquirerId?: string): TaskMethod {
    const moduleKey = wrapper.host!.token;
    let creator = this.creators.get(moduleKey);
    if (!creator) {
      creator = new TaskContextCreator(this.nest, moduleKey);
      this.creators.set(moduleKey, creator);
    }
    return creator.wrap({ task: name, instance, key, moduleKey, contextId, inquirerId });
  }

  // The wrappers of the enhancer classes; those given as instances have none.
  private declaredOn(task: FoundTask): (Wrapper | undefined)[] {
    const { owner, method } = task;
    return KINDS.flatMap(([metadata, kind]) =>
      [owner, method]
        .flatMap((target): unknown[] => Reflect.getMetadata(metadata, target) ?? [])
        .map((enhancer) => this.wrapperOf(task, enhancer, kind)),
    );
  }

  private wrapperOf({ place, wrapper }: FoundTask, enhancer: unknown, kind: string): Wrapper | undefined {
    if (typeof enhancer !== 'function') return undefined;
    const found = wrapper.host!.injectables.get(enhancer);
    if (found) return found;
    // Nest makes enhancers only for classes that it makes itself. To ignore a guard would be worse than to refuse it.
    throw new ConfigurationError(
      `The ${kind} ${enhancer.name} of task ${place} cannot be created, because its provider is a factory or a value. ` +
        `Provide the class itself, or give an instance: new ${enhancer.name}().`,
      'RHYTHM_TASK_ENHANCER',
    );
  }

  private parametersOf(task: FoundTask) {
    const { place, owner, key } = task;
    const parameters = parametersOf(owner, key);
    for (const [each, { pipes }] of Object.entries(parameters ?? {})) {
      for (const pipe of pipes ?? []) this.wrapperOf(task, pipe, 'pipe');
      const type = each.split(':')[0]!;
      if (type === String(INPUT_PARAMETER) || type === String(CONTEXT_PARAMETER) || type.includes(CUSTOM_PARAMETER)) continue;
      throw new ConfigurationError(
        `Task ${place} has a parameter that only an HTTP request has. Use @TaskInput() and @TaskCtx(), or parameters of your own made with createParamDecorator().`,
        'RHYTHM_TASK_PARAMETER',
      );
    }
    return parameters;
  }
}

/** The app-wide enhancers of the kinds that tasks are to have. */
class AppWideEnhancers extends ApplicationConfig {
  constructor(
    private readonly of: ApplicationConfig,
    private readonly chosen: GlobalEnhancers,
  ) {
    super();
  }

  hasAny(): boolean {
    return this.requestScoped().length > 0 || this.shared().length > 0;
  }

  requestScoped(): Wrapper[] {
    return [
      ...this.getGlobalRequestGuards(),
      ...this.getGlobalRequestPipes(),
      ...this.getGlobalRequestInterceptors(),
      ...this.getGlobalRequestFilters(),
    ];
  }

  private shared(): object[] {
    return [...this.getGlobalGuards(), ...this.getGlobalPipes(), ...this.getGlobalInterceptors(), ...this.getGlobalFilters()];
  }

  override getGlobalGuards() {
    return this.chosen.guards ? this.of.getGlobalGuards() : [];
  }
  override getGlobalRequestGuards() {
    return this.chosen.guards ? this.of.getGlobalRequestGuards() : [];
  }
  override getGlobalPipes() {
    return this.chosen.pipes ? this.of.getGlobalPipes() : [];
  }
  override getGlobalRequestPipes() {
    return this.chosen.pipes ? this.of.getGlobalRequestPipes() : [];
  }
  override getGlobalInterceptors() {
    return this.chosen.interceptors ? this.of.getGlobalInterceptors() : [];
  }
  override getGlobalRequestInterceptors() {
    return this.chosen.interceptors ? this.of.getGlobalRequestInterceptors() : [];
  }
  override getGlobalFilters() {
    return this.chosen.filters ? this.of.getGlobalFilters() : [];
  }
  override getGlobalRequestFilters() {
    return this.chosen.filters ? this.of.getGlobalRequestFilters() : [];
  }
}

function notMade({ place }: FoundTask, { name }: Wrapper): ConfigurationError {
  return new ConfigurationError(
    `${name}, which is transient, was not created for task ${place} by this version of Nest. Remove Scope.TRANSIENT, or give an instance: new ${name}().`,
    'RHYTHM_TASK_ENHANCER',
  );
}

function moduleRefOf(wrapper: Wrapper): ModuleRef {
  return wrapper.host!.getProviderByKey<ModuleRef>(ModuleRef).instance;
}
