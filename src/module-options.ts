// The options of `RhythmModule`, and the tokens of what is not a class.

import { ConfigurableModuleBuilder, type InjectionToken } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { SnapshotStore } from '../libs/engine/index.js';
import type { SettingOptions } from './config/schema.js';
import type { QueueOptions } from './execution/queue-depths.js';
import type { FlowSource } from './flows/flow-source.js';
import type { GlobalEnhancers } from './tasks/task-enhancers.js';

/**
 * Options of `RhythmModule.forRoot()`: every setting (each may also come from the environment or rhythm.toml), and those that
 * can be given only in code.
 */
export interface RhythmModuleOptions extends SettingOptions {
  /** Folders, files or sources of the workflows of this process. */
  flows?: readonly FlowSource[];
  /** Tasks that flows call and workers of another application run; "*" for any. Other unknown names fail at boot. */
  externalTasks?: readonly string[] | '*';
  /**
   * The app's own TypeORM DataSource, or the token it is provided under, for transactional tasks.
   * Default: the one `@nestjs/typeorm` provides, if there is one.
   */
  dataSource?: DataSource | InjectionToken;
  /**
   * The kinds of app-wide enhancers (`app.useGlobalGuards()`, `APP_GUARD` and the like) that tasks have too. Default: none, as they are
   * usually written for HTTP requests. Those of classes and methods always apply.
   */
  globalEnhancers?: GlobalEnhancers;
  /** Limits of queues, for starts of this process: `{ mail: { maxDepth: 10_000 } }`. */
  queues?: Readonly<Record<string, QueueOptions>>;
  /** Where states over a threshold are stored, if not in their row (see `FileSnapshotStore`). */
  snapshotStore?: SnapshotStore;
  /** A configuration file that must exist, instead of the usual search. */
  configPath?: string;
}

/** The names of `externalTasks`, with "*" among them for any. */
export function externalTasksOf({ externalTasks = [] }: Pick<RhythmModuleOptions, 'externalTasks'>): readonly string[] {
  return externalTasks === '*' ? ['*'] : externalTasks;
}

/** Keys of the options that are not settings. */
export const CODE_OPTION_KEYS = [
  'flows',
  'externalTasks',
  'queues',
  'dataSource',
  'globalEnhancers',
  'snapshotStore',
  'configPath',
] as const;

/** What `forRoot` and `forRootAsync` take besides the options. */
export interface RhythmModuleExtras {
  /** Makes the services injectable everywhere; default true. */
  isGlobal?: boolean;
  /** Distinguishes several Rhythm modules of one app; default "default". */
  name?: string;
}

/** Options of `RhythmModule.forFeature()`. */
export interface RhythmFeatureOptions {
  /** Workflows that belong to the importing module. */
  flows: readonly FlowSource[];
  /** The Rhythm module they are for, when the app has several. */
  name?: string;
}

// Symbol.for: two copies of the package in one process (ESM and CommonJS) have the same tokens.
/** Token of the options that were given. */
export const RHYTHM_OPTIONS: unique symbol = Symbol.for('rhythm:options') as never;
/** Token of the checked settings and their origins. */
export const RHYTHM_SETTINGS: unique symbol = Symbol.for('rhythm:settings') as never;
/** Token of the module's name. */
export const RHYTHM_NAME: unique symbol = Symbol.for('rhythm:name') as never;
/** Token of the options of a `forFeature` call. */
export const RHYTHM_FEATURE: unique symbol = Symbol.for('rhythm:feature') as never;

/**
 * Token of the module's own SchedulerRegistry. Under its class `app.get(SchedulerRegistry)` could return it in place of the app's.
 */
export const RHYTHM_SCHEDULER_REGISTRY: unique symbol = Symbol.for('rhythm:scheduler-registry') as never;

/** Makes the options of `RhythmModule.forRootAsync({ useClass })` or `({ useExisting })`. */
export interface RhythmOptionsFactory {
  createRhythmOptions(): RhythmModuleOptions | Promise<RhythmModuleOptions>;
}

export const { ConfigurableModuleClass, OPTIONS_TYPE, ASYNC_OPTIONS_TYPE } = new ConfigurableModuleBuilder<RhythmModuleOptions>({
  optionsInjectionToken: RHYTHM_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createRhythmOptions')
  .setExtras<RhythmModuleExtras>({ isGlobal: true, name: 'default' }, (definition, extras) => ({
    ...definition,
    global: extras.isGlobal,
    providers: [...(definition.providers ?? []), { provide: RHYTHM_NAME, useValue: extras.name }],
  }))
  .build();

/** What `RhythmModule.forRootAsync()` takes: `useFactory` with `inject`, or `useClass` or `useExisting` of a `RhythmOptionsFactory`. */
export type RhythmModuleAsyncOptions = typeof ASYNC_OPTIONS_TYPE;
