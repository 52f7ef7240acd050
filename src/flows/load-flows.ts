// Collects the workflows of a Rhythm module: its own option and every forFeature call of the application.

import type { DiscoveryService } from '@nestjs/core';
import type { LoadedSettings } from '../config/load-settings.js';
import { ConfigurationError, InvalidArgumentError } from '../errors.js';
import { RHYTHM_FEATURE, type RhythmFeatureOptions, type RhythmModuleOptions } from '../module-options.js';
import { providedValues } from '../provided-values.js';
import { FlowRegistry } from './flow.registry.js';
import { readFlows } from './flow-source.js';

/** The registry with every workflow of this module, compiled. */
export function loadFlows(options: RhythmModuleOptions, name: string, loaded: LoadedSettings, discovery: DiscoveryService): FlowRegistry {
  const registry = new FlowRegistry();
  try {
    const own = readFlows(options.flows ?? [], 'flows');
    const features = providedValues<RhythmFeatureOptions>(discovery, RHYTHM_FEATURE)
      .filter((feature) => (feature.name ?? 'default') === name)
      .flatMap(({ flows }) => readFlows(flows, 'forFeature flows'));
    registry.load([...own, ...features], { heapBytes: loaded.settings.limits.heapBytes });
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw new ConfigurationError(error.message, error.code);
    throw error;
  }
  return registry;
}
