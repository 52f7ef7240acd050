// Collects the workflows of a Rhythm module: its own option and every forFeature call of the application.

import type { DiscoveryService } from '@nestjs/core';
import { asConfiguration } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { RHYTHM_FEATURE, type RhythmFeatureOptions, type RhythmModuleOptions } from '../module-options.js';
import { providedValues } from '../provided-values.js';
import { FlowRegistry } from './flow.registry.js';
import { readFlows } from './flow-source.js';

/** The registry with every workflow of this module, compiled. */
export function loadFlows(options: RhythmModuleOptions, name: string, loaded: LoadedSettings, discovery: DiscoveryService): FlowRegistry {
  const registry = new FlowRegistry();
  asConfiguration(() => {
    const own = readFlows(options.flows ?? [], 'flows');
    const features = providedValues<RhythmFeatureOptions>(discovery, RHYTHM_FEATURE)
      .filter((feature) => (feature.name ?? 'default') === name)
      .flatMap(({ flows }) => readFlows(flows, 'forFeature flows'));
    registry.load([...own, ...features], { heapBytes: loaded.settings.limits.heapBytes });
  });
  return registry;
}
