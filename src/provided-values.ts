// The values that the modules of an application provide under a token.

import type { DiscoveryService } from '@nestjs/core';

/** One value for each module that provides the token. */
export function providedValues<Value>(discovery: DiscoveryService, token: symbol): Value[] {
  const wrappers = new Set(discovery.getProviders().filter((wrapper) => wrapper.token === token));
  return [...wrappers].map((wrapper) => wrapper.instance as Value);
}
