// Checks the arguments of `forRoot`, `forRootAsync` and `forFeature`, and that each feature belongs to a Rhythm module.

import type { DiscoveryService } from '@nestjs/core';
import { asConfiguration, checkBoolean, checkInteger, checkKeys, checkName, checkString, describeValue } from '../check-argument.js';
import { SCHEMA } from '../config/schema.js';
import { ConfigurationError } from '../errors.js';
import { CODE_OPTION_KEYS, RHYTHM_FEATURE, RHYTHM_NAME, type RhythmFeatureOptions, type RhythmModuleOptions } from '../module-options.js';
import { didYouMean, listNames } from '../nearest.js';
import { providedValues } from '../provided-values.js';

const OPTION_SOURCES = ['useFactory', 'useClass', 'useExisting'];
const EXTRAS = ['isGlobal', 'name'];
const STORE_METHODS = ['put', 'get', 'remove'];
const ENHANCERS = ['guards', 'pipes', 'interceptors', 'filters'];

/** The argument of a `forRoot` or `forRootAsync` call: an object, with extras that make sense. */
export function checkCallOptions(options: object, call: string): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(`${call} was given ${describeValue(options)}, not an object of options.`);
  }
  const { isGlobal, name } = options as { isGlobal?: unknown; name?: unknown };
  asConfiguration(() => {
    if (isGlobal !== undefined) checkBoolean(isGlobal, `${call}: isGlobal`);
    if (name !== undefined) checkName(name, `${call}: name`);
  });
}

/** The argument of a `forRootAsync` call: it has exactly one source of the options. */
export function checkAsyncOptions(options: object): void {
  const call = 'RhythmModule.forRootAsync()';
  checkCallOptions(options, call);
  asConfiguration(() => checkKeys(options, ['imports', 'inject', ...OPTION_SOURCES, 'provideInjectionTokensFrom', ...EXTRAS], call));
  const sources = OPTION_SOURCES.filter((key) => (options as Record<string, unknown>)[key] !== undefined);
  if (sources.length !== 1) {
    throw invalid(
      `${call} ${sources.length ? `has ${sources.join(' and ')}` : 'does not say how to make the options'}. Give one of ${OPTION_SOURCES.join(', ')}.`,
    );
  }
  const { useClass } = options as { useClass?: { name: string; prototype?: Record<string, unknown> } };
  if (useClass && typeof useClass.prototype?.createRhythmOptions !== 'function') {
    throw invalid(`${call}: useClass ${useClass.name} has no method createRhythmOptions(). Implement RhythmOptionsFactory.`);
  }
}

/** The options of the module, given or made; `loadSettings` checks the settings among them. */
export function checkModuleOptions(options: RhythmModuleOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw invalid(
      `The options made for RhythmModule.forRootAsync() are ${describeValue(options)}. Return an object, {} if there are none.`,
    );
  }
  const known = [...CODE_OPTION_KEYS, ...Object.keys(SCHEMA)];
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue;
    const advice = EXTRAS.includes(key)
      ? ` It is needed before the options are made: give it next to useFactory in RhythmModule.forRootAsync().`
      : `${didYouMean(key, [...known, ...EXTRAS])} Options: ${[...known, ...EXTRAS].join(', ')}.`;
    throw new ConfigurationError(`Unknown setting "${key}" in options.${advice}`, 'RHYTHM_UNKNOWN_SETTING');
  }
  const { flows, externalTasks, queues, globalEnhancers, snapshotStore, configPath } = options;
  asConfiguration(() => {
    if (globalEnhancers !== undefined) {
      checkKeys(globalEnhancers, ENHANCERS, 'globalEnhancers');
      for (const [kind, isApplied] of Object.entries(globalEnhancers)) checkBoolean(isApplied, `globalEnhancers.${kind}`);
    }
    if (flows !== undefined) checkArray(flows, 'flows', 'folders, files or { name, source }');
    if (externalTasks !== undefined && externalTasks !== '*') {
      checkArray(externalTasks, 'externalTasks', 'names of tasks, or "*" for any');
      externalTasks.forEach((name, index) => {
        checkName(name, `externalTasks[${index}]`);
      });
    }
    if (queues !== undefined) checkQueues(queues);
    if (configPath !== undefined) checkString(configPath, 'configPath', 4_096, 'RHYTHM_OPTION_INVALID');
  });
  if (snapshotStore !== undefined && !isSnapshotStore(snapshotStore)) {
    throw invalid('snapshotStore is not a SnapshotStore: it needs thresholdBytes (a number), put, get and remove.');
  }
}

const MOST_DEPTH = 10_000_000;

function checkQueues(queues: unknown): void {
  if (typeof queues !== 'object' || queues === null || Array.isArray(queues))
    throw invalid(`queues is ${describeValue(queues)}, not an object such as { mail: { maxDepth: 10000 } }.`);
  for (const [name, options] of Object.entries(queues)) {
    checkName(name, 'The name of a queue in queues');
    const { maxDepth } = checkKeys<{ maxDepth?: unknown }>(options, ['maxDepth'], `queues.${name}`);
    if (maxDepth !== undefined) checkInteger(maxDepth, `queues.${name}.maxDepth`, 1, MOST_DEPTH);
  }
}

/** The argument of a `forFeature` call. */
export function checkFeatureOptions(options: object): void {
  const call = 'RhythmModule.forFeature()';
  checkCallOptions(options, call);
  asConfiguration(() => checkKeys(options, ['flows', 'name'], call));
  checkArray((options as { flows?: unknown }).flows, `${call}: flows`, 'folders, files or { name, source }');
}

/** Each name is of one Rhythm module. */
export function refuseDuplicates(name: string, discovery: DiscoveryService): void {
  const equal = providedValues<string>(discovery, RHYTHM_NAME).filter((each) => each === name);
  if (equal.length < 2) return;
  throw new ConfigurationError(
    `RhythmModule.forRoot() is imported ${equal.length} times under the name "${name}". Import it once, in the root module ` +
      `(its services are injectable everywhere; use RhythmModule.forFeature({ flows }) elsewhere), or give each its own { name: '…' }.`,
    'RHYTHM_DUPLICATE_MODULE',
  );
}

/** Every feature names a Rhythm module that the application has; otherwise nothing would load its flows. */
export function refuseUnknownFeatures(discovery: DiscoveryService): void {
  const names = providedValues<string>(discovery, RHYTHM_NAME);
  for (const { name = 'default' } of providedValues<RhythmFeatureOptions>(discovery, RHYTHM_FEATURE)) {
    if (names.includes(name)) continue;
    throw new ConfigurationError(
      `RhythmModule.forFeature() is for the Rhythm module "${name}", which this application does not have.${didYouMean(name, names)} ` +
        `Rhythm modules: ${listNames(names)}. Import RhythmModule.forRoot() in the root module, or correct the name of the feature.`,
      'RHYTHM_MODULE_MISSING',
    );
  }
}

function checkArray(value: unknown, path: string, of: string): void {
  if (!Array.isArray(value)) throw invalid(`${path} is ${describeValue(value)}, not an array of ${of}.`);
}

function isSnapshotStore(value: unknown): boolean {
  const store = value as Record<string, unknown> | null;
  return typeof store?.thresholdBytes === 'number' && STORE_METHODS.every((method) => typeof store[method] === 'function');
}

function invalid(message: string): ConfigurationError {
  return new ConfigurationError(message, 'RHYTHM_OPTION_INVALID');
}
