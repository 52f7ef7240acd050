// How a service of a Rhythm module with a name is injected.

import { Inject, type InjectionToken, type Type } from '@nestjs/common';

/** The token of a service of the Rhythm module with this name, for `app.get(…)` and `inject: […]`. */
export function getRhythmToken<Service>(service: Type<Service>, name = 'default'): InjectionToken<Service> {
  // Not the class, even for the default module: `app.get(Class)` returns the service of the module that was imported last. Symbol.for:
  // two copies of the package in one process (ESM and CommonJS) have the same token.
  return Symbol.for(`rhythm:${name}:${service.name}`);
}

/**
 * Injects a service of the Rhythm module with this name: `@InjectRhythm(ExecutionService, 'reports') executions: ExecutionService`.
 *
 * @publicApi
 */
export function InjectRhythm(service: Type<unknown>, name = 'default'): ParameterDecorator & PropertyDecorator {
  return Inject(getRhythmToken(service, name));
}
