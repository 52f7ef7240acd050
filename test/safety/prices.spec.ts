// What is charged grows at least as the work does: compared by counting at three sizes, never by time.
import { describe, expect, it } from '@jest/globals';
import { PRICED, priceOf } from './prices.js';

const SIZES = [3_000, 6_000, 12_000];
/** Fixed costs make small inputs a little dearer. */
const TOLERANCE = 0.8;
/** Twenty milliseconds, at 25 ns for a unit. */
const LONGEST = 800_000;

describe('the fuel that is charged grows with the work of', () => {
  it.each(PRICED.map((each) => [`${each.given.slice(0, 60)}: ${each.name}`, each] as const))('%s', (_name, priced) => {
    const [small, middle, large] = SIZES.map((n) => priceOf(priced, n).units);
    const [least, , most] = SIZES.map(priced.work);
    expect(small).toBeGreaterThanOrEqual(least);
    expect(large).toBeGreaterThanOrEqual(most);
    expect(large - middle).toBeGreaterThanOrEqual(TOLERANCE * (priced.work(SIZES[2]) - priced.work(SIZES[1])));
    expect((large - middle) / (middle - small)).toBeGreaterThanOrEqual(1.5);
  });
});

describe('no slice is much longer than its fuel during', () => {
  const walks = [
    'a.sort()',
    'JSON.stringify(a)',
    'structuredClone(a)',
    'Object.entries(o)',
    'JSON.parse(s)',
    't.flat(Infinity)',
    '[...a]',
    '({ ...o })',
    'new Set(a)',
    'Promise.all(a)',
  ];
  it.each(PRICED.filter(({ name }) => walks.includes(name)))('$name of $given', (priced) => {
    expect(priceOf(priced, 60_000).longest).toBeLessThan(LONGEST);
  });
});
