// The options of `RhythmModule` and the tokens its parts are injected by.

import { ConfigurableModuleBuilder, type InjectionToken } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { SnapshotStore } from '../libs/engine/index.js';
import type { SettingOptions } from './config/schema.js';
import type { FlowSource } from './flows/flow-source.js';

/**
 * Options of `RhythmModule.forRoot()`: every setting (each may also come from the environment or rhythm.toml), and what
 * only code can say.
 */
export interface RhythmModuleOptions extends SettingOptions {
  /** Folders, files or texts of the workflows this process has. */
  flows?: readonly FlowSource[];
  /** Tasks that flows call but workers of another application run; "*" for any. Other unknown names fail at boot. */
  externalTasks?: readonly string[];
  /**
   * The app's own TypeORM DataSource, or the token it is provided under, for transactional tasks.
   * Default: the one `@nestjs/typeorm` provides, if there is one.
   */
  dataSource?: DataSource | InjectionToken;
  /** Where states over a threshold live, if not in their row (see `FileSnapshotStore`). */
  snapshotStore?: SnapshotStore;
  /** A configuration file that must exist, in place of the usual search. */
  configPath?: string;
}

/** Keys of the options that are not settings. */
export const CODE_OPTION_KEYS = ['flows', 'externalTasks', 'dataSource', 'snapshotStore', 'configPath'] as const;

/** What stands beside the options in `forRoot` and `forRootAsync`. */
export interface RhythmModuleExtras {
  /** Makes the services injectable everywhere; default true. */
  isGlobal?: boolean;
  /** Tells several Rhythm modules of one app apart; default "default". */
  name?: string;
}

/** Options of `RhythmModule.forFeature()`. */
export interface RhythmFeatureOptions {
  /** Workflows that belong to the importing module. */
  flows: readonly FlowSource[];
  /** The Rhythm module they are for, when the app has several. */
  name?: string;
}

// Symbol.for: two copies of the package in one process (ESM beside CJS) still mean the same thing.
/** Token of the options as they were given. */
export const RHYTHM_OPTIONS: unique symbol = Symbol.for('rhythm:options') as never;
/** Token of the checked settings and their origins. */
export const RHYTHM_SETTINGS: unique symbol = Symbol.for('rhythm:settings') as never;
/** Token of the module's name. */
export const RHYTHM_NAME: unique symbol = Symbol.for('rhythm:name') as never;
/** Token of what a `forFeature` call adds. */
export const RHYTHM_FEATURE: unique symbol = Symbol.for('rhythm:feature') as never;

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
