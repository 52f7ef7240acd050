// `RhythmModule`: wires settings, database, registries, services and the worker into a Nest application.

import { type DynamicModule, Logger, Module, type Provider, type Type } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { AppDataSourceFinder } from './boot/app-data-source.finder.js';
import { BootSequence } from './boot/boot.sequence.js';
import {
  checkAsyncOptions,
  checkCallOptions,
  checkFeatureOptions,
  checkModuleOptions,
  refuseDuplicates,
  refuseUnknownFeatures,
} from './boot/check-options.js';
import { type LoadedSettings, loadSettings } from './config/load-settings.js';
import { DatabaseHost } from './database/database.host.js';
import { FailureLog } from './events/failure.log.js';
import { RhythmEvents } from './events/rhythm.events.js';
import { CompletionService } from './execution/completion.service.js';
import { ExecutionService } from './execution/execution.service.js';
import { TargetResolver } from './execution/target.resolver.js';
import { DefinitionService } from './flows/definition.service.js';
import { FlowRegistry } from './flows/flow.registry.js';
import { loadFlows } from './flows/load-flows.js';
import { getRhythmToken } from './inject-rhythm.js';
import {
  CODE_OPTION_KEYS,
  ConfigurableModuleClass,
  OPTIONS_TYPE,
  RHYTHM_FEATURE,
  RHYTHM_NAME,
  RHYTHM_OPTIONS,
  RHYTHM_SCHEDULER_REGISTRY,
  RHYTHM_SETTINGS,
  type RhythmFeatureOptions,
  type RhythmModuleAsyncOptions,
  type RhythmModuleOptions,
} from './module-options.js';
import { SchedulerService } from './scheduler/scheduler.service.js';
import { SignalService } from './signal/signal.service.js';
import { TaskExplorer } from './tasks/task.explorer.js';
import { TaskRegistry } from './tasks/task.registry.js';
import { LoopRegistry } from './worker/loop.registry.js';
import { QueueWatch } from './worker/queue.watch.js';
import { WorkerHost } from './worker/worker.host.js';

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
  inject: [RHYTHM_OPTIONS, RHYTHM_NAME, DiscoveryService],
  useFactory: (options: RhythmModuleOptions, name: string, discovery: DiscoveryService): LoadedSettings => {
    refuseDuplicates(name, discovery);
    refuseUnknownFeatures(discovery);
    checkModuleOptions(options);
    const { configPath } = options;
    const given = Object.fromEntries(Object.entries(options).filter(([key]) => !(CODE_OPTION_KEYS as readonly string[]).includes(key)));
    const loaded = loadSettings({ options: given, configPath });
    for (const warning of loaded.warnings) new Logger('Rhythm').warn(warning);
    return loaded;
  },
};

// Made before the database: a flow that does not compile must not leave open connections.
const flows: Provider = {
  provide: FlowRegistry,
  inject: [RHYTHM_OPTIONS, RHYTHM_NAME, RHYTHM_SETTINGS, DiscoveryService],
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
  imports: [DiscoveryModule],
  // A private registry: importing ScheduleModule.forRoot() would fire the app's own cron jobs a second time.
  providers: [
    settings,
    flows,
    database,
    { provide: RHYTHM_SCHEDULER_REGISTRY, useClass: SchedulerRegistry },
    TaskRegistry,
    TaskExplorer,
    TargetResolver,
    AppDataSourceFinder,
    BootSequence,
    LoopRegistry,
    QueueWatch,
    FailureLog,
    ...SERVICES,
  ],
})
export class RhythmModule extends ConfigurableModuleClass {
  /** Adds Rhythm to the application; options that are left out come from the environment, rhythm.toml or the defaults. */
  static override forRoot(options: typeof OPTIONS_TYPE = {}): DynamicModule {
    checkCallOptions(options, 'RhythmModule.forRoot()');
    // biome-ignore lint/complexity/noThisInStatic: the builder makes the module of the class it is called on
    return withServices(super.forRoot(options), options.name);
  }

  /** As `forRoot`, with options from a factory function, or from a class that implements `RhythmOptionsFactory`. */
  static override forRootAsync(options: RhythmModuleAsyncOptions): DynamicModule {
    checkAsyncOptions(options);
    // biome-ignore lint/complexity/noThisInStatic: the builder makes the module of the class it is called on
    return withServices(super.forRootAsync(options), options.name);
  }

  /** Adds the workflows of a feature module. */
  static forFeature(options: RhythmFeatureOptions): DynamicModule {
    checkFeatureOptions(options);
    return { module: RhythmFeatureModule, providers: [{ provide: RHYTHM_FEATURE, useValue: options }] };
  }
}

/** Holds the flows of one `forFeature` call; the root module finds them at boot. */
@Module({ imports: [DiscoveryModule] })
export class RhythmFeatureModule {
  // The root module checks this too, before it opens anything; here it is noticed when there is no root module.
  constructor(discovery: DiscoveryService) {
    refuseUnknownFeatures(discovery);
  }
}

function withServices(definition: DynamicModule, name = 'default'): DynamicModule {
  const named = SERVICES.map((service) => ({ provide: getRhythmToken(service, name), useExisting: service }));
  const tokens = named.map(({ provide }) => provide);
  return {
    ...definition,
    providers: [...(definition.providers ?? []), ...named],
    exports: name === 'default' ? [...SERVICES, ...tokens] : tokens,
  };
}
