// Collects the workflows of a Rhythm module: from its own option and from every forFeature call for it.

import type { DiscoveryService } from '@nestjs/core';
import { asConfiguration } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { RHYTHM_FEATURE, type RhythmFeatureOptions, type RhythmModuleOptions } from '../module-options.js';
import { providedValues } from '../provided-values.js';
import { FlowRegistry } from './flow.registry.js';
import { readFlows } from './flow-source.js';

/** The registry with all workflows of this module, compiled. */
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
