// The keys of a Map's index: one per value, and not predictable for a flow that knows V8's hash.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { indexKey } from './index-key.js';
import { MapObject, type Value } from './values.js';

describe('the key of a value', () => {
  const keys = fc.oneof(
    ...[fc.integer(), fc.double(), fc.maxSafeInteger(), fc.constantFrom(0, -0, Number.NaN, 2 ** 31, -(2 ** 31), 2 ** 32)],
    ...[fc.string(), fc.string().map((text) => `\0${text}`), fc.double().map(String), fc.double().map((n) => `\0${n}`)],
    fc.constantFrom<Value>(undefined, null, true, false, ''),
  );

  it('is the same exactly when a Map treats the values as the same', () => {
    fc.assert(
      fc.property(keys, keys, (a, b) => {
        expect(new Set([indexKey(a), indexKey(b)]).size).toBe(new Set([a, b]).size);
        expect(new Set([indexKey(a), indexKey(a)]).size).toBe(1);
      }),
      { numRuns: 2_000 },
    );
  });

  it('spreads integers that would all fall into one bucket of a host Map', () => {
    const chosen = Array.from({ length: 20_000 }, (_, at) => integerHashedTo(at << 15));
    // A host Map takes 600 ms for them, and 2 ms for others: the bound leaves room for a busy machine.
    expect(msOf(chosen)).toBeLessThan(20 * Math.max(msOf(chosen.map((_, at) => at * 7)), 2));
  });
});

function msOf(keys: readonly number[]): number {
  const map = new MapObject();
  const start = performance.now();
  for (const key of keys) map.put(key, key);
  expect(map.size).toBe(keys.length);
  return performance.now() - start;
}

/** Undoes the steps of V8's hash of integers, each of which is one to one. */
function integerHashedTo(hash: number): number {
  let x = hash ^ (hash >>> 16);
  x = Math.imul(x, inverse(2057));
  for (let shift = 4, y = x; shift < 32; shift += 4) x ^= y >>> shift;
  x = Math.imul(x, inverse(5));
  x = x ^ (x >>> 12) ^ (x >>> 24);
  return Math.imul(x + 1, inverse(32_767));
}

/** Of an odd number, modulo 2 ** 32. */
function inverse(odd: number): number {
  let found = odd;
  for (let step = 0; step < 5; step++) found = Math.imul(found, 2 - Math.imul(odd, found));
  return found;
}
