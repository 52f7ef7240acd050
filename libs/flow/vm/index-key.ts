// Under which key a flow value stands in a host Map, so that a flow cannot choose numbers that fall into one bucket.
//
// V8 hashes texts with a secret of the process and objects by a random number, but numbers without any: the hash can be
// inverted, and 20,000 chosen integers in one bucket make every lookup 40 µs. Nobody sees these keys: snapshots and the
// order of entries come from the values themselves.

import type { Value } from './values.js';

// Not Math.random: its state can be worked out from its numbers, and those a flow may see.
const [MASK, FACTOR] = crypto.getRandomValues(new Int32Array(2)).map((each, at) => (at === 0 ? each : each | 1));

/** Begins the texts that stand for other numbers. */
const MARK = '\0';

/** One key for every value that `Map` and `Set` hold to be the same one, and another for every other value. */
export function indexKey(key: Value): unknown {
  if (typeof key === 'number') {
    // One to one over the integers of 32 bits, as the factor is odd. -0 is 0 here, as it is in a Map.
    if ((key | 0) === key) return Math.imul(key ^ MASK, FACTOR);
    return `${MARK}${key}`;
  }
  // A text of the flow that begins so begins with two of them then, which no number does.
  if (typeof key === 'string' && key.charCodeAt(0) === 0) return `${MARK}${key}`;
  return key;
}
