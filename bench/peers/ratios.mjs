// Ratios between paired trials, as a table with one row per number.

import { bootstrapInterval, median } from '../statistics.mjs';

/** The compared numbers, and whether higher or lower is better. */
const NUMBERS = {
  perSecond: { title: 'per second', better: 'higher' },
  p50: { title: 'p50 ms', better: 'lower' },
  p99: { title: 'p99 ms', better: 'lower' },
  nodeMicros: { title: 'Node CPU µs each', better: 'lower' },
  serverMicros: { title: 'PostgreSQL CPU µs each', better: 'lower' },
  cpuMicros: { title: 'CPU µs each, both', better: 'lower' },
  walBytes: { title: 'WAL bytes each', better: 'lower' },
  totalMB: { title: 'tables and indexes, MB', better: 'lower' },
  indexMB: { title: 'indexes, MB', better: 'lower' },
  hotPercent: { title: 'HOT updates of executions, %', better: 'higher' },
  hotPercentAll: { title: 'HOT updates of all tables, %', better: 'higher' },
};

// With fewer pairs, no 95 % interval of a median exists: all pairs differ in the same direction too often by chance.
const MIN_PAIRS = 6;

/** A row per number that both trials of every pair have: medians, and the median of new ÷ old with its interval. */
export function ratiosOf(pairs) {
  const complete = pairs.map((pair) => ({ old: withTotalCpu(pair.old), new: withTotalCpu(pair.new) }));
  return Object.entries(NUMBERS).flatMap(([name, { title, better }]) => {
    if (!complete.every((pair) => pair.old[name] > 0 && pair.new[name] > 0)) return [];
    const ratios = complete.map((pair) => pair.new[name] / pair.old[name]);
    const [low, high] = bootstrapInterval(ratios);
    return [
      {
        number: title,
        old: rounded(median(complete.map((pair) => pair.old[name]))),
        new: rounded(median(complete.map((pair) => pair.new[name]))),
        'new ÷ old': median(ratios).toFixed(3),
        '95 % interval': `${low.toFixed(3)} – ${high.toFixed(3)}`,
        result: ratios.length < MIN_PAIRS ? 'too few pairs' : resultOf(low, high, better),
      },
    ];
  });
}

function withTotalCpu(numbers) {
  return { ...numbers, cpuMicros: numbers.nodeMicros + numbers.serverMicros };
}

function resultOf(low, high, better) {
  if (low <= 1 && high >= 1) return 'no difference found';
  return low > 1 === (better === 'higher') ? 'better' : 'worse';
}

function rounded(n) {
  return n >= 100 ? Math.round(n) : Number(n.toFixed(2));
}
