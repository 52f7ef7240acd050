// `RhythmModule`: wires settings, database, registries, services and the worker into a Nest application.

import { type DynamicModule, Inject, Module, type Provider, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { AppDataSourceFinder } from './boot/app-data-source.finder.js';
import { BootSequence } from './boot/boot.sequence.js';
import { checkAsyncCall, checkCall, checkFeature, checkModuleOptions, refuseOrphans } from './boot/check-options.js';
import { type LoadedSettings, loadSettings } from './config/load-settings.js';
import { DatabaseHost } from './database/database.host.js';
import { ConfigurationError } from './errors.js';
import { RhythmEvents } from './events/rhythm.events.js';
import { CompletionService } from './execution/completion.service.js';
import { ExecutionService } from './execution/execution.service.js';
import { TargetResolver } from './execution/target.resolver.js';
import { DefinitionService } from './flows/definition.service.js';
import { FlowRegistry } from './flows/flow.registry.js';
import type { FlowSource } from './flows/flow-source.js';
import { loadFlows } from './flows/load-flows.js';
import { getRhythmToken } from './inject-rhythm.js';
import {
  CODE_OPTION_KEYS,
  ConfigurableModuleClass,
  OPTIONS_TYPE,
  RHYTHM_FEATURE,
  RHYTHM_NAME,
  RHYTHM_OPTIONS,
  RHYTHM_SETTINGS,
  type RhythmModuleAsyncOptions,
  type RhythmModuleOptions,
} from './module-options.js';
import { SchedulerService } from './scheduler/scheduler.service.js';
import { SignalService } from './signal/signal.service.js';
import { TaskExplorer } from './tasks/task.explorer.js';
import { TaskRegistry } from './tasks/task.registry.js';
import { QueueWatch } from './worker/queue.watch.js';
import { WorkerHost } from './worker/worker.host.js';

/** Options of `RhythmModule.forFeature()`. */
export interface RhythmFeatureOptions {
  /** Workflows that belong to the importing module. */
  flows: readonly FlowSource[];
  /** The Rhythm module they are for, when the app has several. */
  name?: string;
}

const SERVICES: Type<unknown>[] = [
  ExecutionService,
  SignalService,
  SchedulerService,
  DefinitionService,
  CompletionService,
  RhythmEvents,
  WorkerHost,
];

const settings: Provider = {
  provide: RHYTHM_SETTINGS,
  inject: [RHYTHM_OPTIONS, RHYTHM_NAME, ModulesContainer],
  useFactory: (options: RhythmModuleOptions, name: string, modules: ModulesContainer): LoadedSettings => {
    refuseTwins(name, modules);
    refuseOrphans(modules);
    checkModuleOptions(options);
    const { configPath } = options;
    const given = Object.fromEntries(Object.entries(options).filter(([key]) => !(CODE_OPTION_KEYS as readonly string[]).includes(key)));
    return loadSettings({ options: given, configPath });
  },
};

// Before the database: a flow that does not compile must not leave connections behind.
const flows: Provider = {
  provide: FlowRegistry,
  inject: [RHYTHM_OPTIONS, RHYTHM_NAME, RHYTHM_SETTINGS, ModulesContainer],
  useFactory: loadFlows,
};

const database: Provider = {
  provide: DatabaseHost,
  inject: [RHYTHM_SETTINGS, FlowRegistry],
  useFactory: (loaded: LoadedSettings) => DatabaseHost.open(loaded.settings),
};

/**
 * Durable execution for a Nest application.
 *
 * @publicApi
 */
@Module({
  // The registry is a private one: ScheduleModule.forRoot() would fire the app's own crons a second time.
  providers: [
    settings,
    flows,
    database,
    SchedulerRegistry,
    TaskRegistry,
    TaskExplorer,
    TargetResolver,
    AppDataSourceFinder,
    BootSequence,
    QueueWatch,
    ...SERVICES,
  ],
})
export class RhythmModule extends ConfigurableModuleClass {
  /** Brings Rhythm into the application; options left out come from the environment, rhythm.toml or the defaults. */
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    checkCall(options, 'RhythmModule.forRoot()');
    // biome-ignore lint/complexity/noThisInStatic: the builder makes the module of the class it is called on
    return withServices(super.forRoot(options), options.name);
  }

  /** As `forRoot`, with options from a factory function, or from a class that implements `RhythmOptionsFactory`. */
  static override forRootAsync(options: RhythmModuleAsyncOptions): DynamicModule {
    checkAsyncCall(options);
    // biome-ignore lint/complexity/noThisInStatic: the builder makes the module of the class it is called on
    return withServices(super.forRootAsync(options), options.name);
  }

  /** Adds workflows from within a feature module. */
  static forFeature(options: RhythmFeatureOptions): DynamicModule {
    checkFeature(options);
    return { module: RhythmFeatureModule, providers: [{ provide: RHYTHM_FEATURE, useValue: options }] };
  }
}

/** Carries the flows of one `forFeature` call; the root module finds them at boot. */
@Module({})
export class RhythmFeatureModule {
  // The root module looks too, before it opens anything; here it is seen when there is no root module.
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    refuseOrphans(modules);
  }
}

function withServices(definition: DynamicModule, name = 'default'): DynamicModule {
  if (name === 'default') return { ...definition, exports: SERVICES };
  const named = SERVICES.map((service) => ({ provide: getRhythmToken(service, name), useExisting: service }));
  return { ...definition, providers: [...(definition.providers ?? []), ...named], exports: named.map(({ provide }) => provide) };
}

function refuseTwins(name: string, modules: ModulesContainer): void {
  const twins = [...new Set(modules.values())].filter((module) => module.providers.get(RHYTHM_NAME)?.instance === name);
  if (twins.length > 1) {
    throw new ConfigurationError(
      `RhythmModule.forRoot() is imported ${twins.length} times under the name "${name}". Import it once, in the root module ` +
        `(its services are injectable everywhere; use RhythmModule.forFeature({ flows }) elsewhere), or give each its own { name: '…' }.`,
      'RHYTHM_DUPLICATE_MODULE',
    );
  }
}
