// Collects the workflows of a Rhythm module: its own option and every forFeature call of the application.

import type { ModulesContainer } from '@nestjs/core';
import type { LoadedSettings } from '../config/load-settings.js';
import { ConfigurationError, InvalidArgumentError } from '../errors.js';
import { RHYTHM_FEATURE, type RhythmModuleOptions } from '../module-options.js';
import { FlowRegistry } from './flow.registry.js';
import { type FlowSource, readFlows } from './flow-source.js';

/** The registry with every workflow of this module, compiled. */
export function loadFlows(options: RhythmModuleOptions, name: string, loaded: LoadedSettings, modules: ModulesContainer): FlowRegistry {
  const registry = new FlowRegistry();
  try {
    const own = readFlows(options.flows ?? [], 'flows');
    const features = featuresFor(name, modules).flatMap((flows) => readFlows(flows, 'forFeature flows'));
    registry.load([...own, ...features], { heapBytes: loaded.settings.limits.heapBytes });
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new ConfigurationError(error.message, error.code);
    throw error;
  }
  return registry;
}

function featuresFor(name: string, modules: ModulesContainer): (readonly FlowSource[])[] {
  return [...new Set(modules.values())]
    .map((module) => module.providers.get(RHYTHM_FEATURE)?.instance as { flows: readonly FlowSource[]; name?: string } | undefined)
    .filter((feature) => feature !== undefined && (feature.name ?? 'default') === name)
    .map((feature) => feature!.flows);
}
