// The key under which a flow value is stored in a host Map, so that a flow cannot choose numbers that fall into one bucket.
//
// V8 hashes strings with a secret of the process and objects by a random number, but numbers without any: the hash can be
// inverted, and 20,000 chosen integers in one bucket make every lookup 40 µs. These keys are never visible: snapshots and the
// order of entries come from the values themselves.

import type { Value } from './values.js';

// Not Math.random: its state can be derived from its numbers, which a flow may see.
const [MASK, FACTOR] = crypto.getRandomValues(new Int32Array(2)).map((each, at) => (at === 0 ? each : each | 1));

/** Prefix of the strings that stand for other numbers. */
const PREFIX = '\0';

/** One key for every value that `Map` and `Set` treat as the same, and another for every other value. */
export function indexKey(key: Value): unknown {
  if (typeof key === 'number') {
    // One to one over the integers of 32 bits, as the factor is odd. -0 is 0 here, as it is in a Map.
    if ((key | 0) === key) return Math.imul(key ^ MASK, FACTOR);
    return `${PREFIX}${key}`;
  }
  // A string of the flow with this prefix gets a second one, which no number has.
  if (typeof key === 'string' && key.charCodeAt(0) === 0) return `${PREFIX}${key}`;
  return key;
}
