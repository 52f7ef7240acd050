// Medians, bootstrap intervals, and the ratios of paired trials.

import { describe, expect, it } from '@jest/globals';

// Variables, so that the compiler does not look for types of these scripts.
const [statistics, ratios] = ['./statistics.mjs', './peers/ratios.mjs'];
const { bootstrapInterval, median, percentile } = await import(statistics!);
const { ratiosOf } = await import(ratios!);

describe('statistics', () => {
  it('have the median of odd and even counts, and nearest percentiles', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
    expect([percentile([30, 10, 20, 40], 0.5), percentile([30, 10, 20, 40], 0.99)]).toEqual([30, 40]);
  });

  it('give the same interval for the same values, around their median', () => {
    const values = [0.98, 1.01, 1.0, 0.99, 1.03, 1.02, 0.97, 1.0, 1.01, 0.99];
    const [low, high] = bootstrapInterval(values);
    expect(low).toBeGreaterThanOrEqual(0.97);
    expect(low).toBeLessThan(median(values));
    expect(high).toBeGreaterThan(median(values));
    expect(high).toBeLessThanOrEqual(1.03);
    expect(bootstrapInterval(values)).toEqual([low, high]);
  });
});

describe('the ratios of paired trials', () => {
  const pairs = (factor: number, count = 6) =>
    [10, 11, 12, 13, 14, 15].slice(0, count).map((n) => ({
      old: { perSecond: n, nodeMicros: n, serverMicros: 1, p50: undefined },
      new: { perSecond: n * factor, nodeMicros: n * factor, serverMicros: 1, p50: undefined },
    }));

  it('have a row for each number that was measured', () => {
    expect(ratiosOf(pairs(2)).map(({ number }: { number: string }) => number)).toEqual([
      'per second',
      'Node CPU µs each',
      'PostgreSQL CPU µs each',
      'CPU µs each, both',
    ]);
  });

  it('are better or worse only if the interval does not contain 1', () => {
    const results = (factor: number) => ratiosOf(pairs(factor)).map(({ result }: { result: string }) => result);
    expect(results(2)).toEqual(['better', 'worse', 'no difference found', 'worse']);
    expect(results(0.5)).toEqual(['worse', 'better', 'no difference found', 'better']);
    expect(ratiosOf(pairs(2))[0]).toMatchObject({ old: 12.5, new: 25, 'new ÷ old': '2.000', '95 % interval': '2.000 – 2.000' });
  });

  it('have no result with fewer than six pairs', () => {
    expect(ratiosOf(pairs(2, 5))[0]).toMatchObject({ 'new ÷ old': '2.000', result: 'too few pairs' });
  });
});
