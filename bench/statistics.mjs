// Medians, percentiles and bootstrap intervals of measurements.

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** The value below which a share of the values lies; always one of them. */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** The percentile bootstrap interval of the median. The random numbers are seeded, so the same values give the same interval. */
export function bootstrapInterval(values, { confidence = 0.95, samples = 10_000 } = {}) {
  const random = seededRandom(1);
  const medians = Array.from({ length: samples }, () => median(values.map(() => values[Math.floor(random() * values.length)])));
  const tail = (1 - confidence) / 2;
  return [percentile(medians, tail), percentile(medians, 1 - tail)];
}

// The generator mulberry32.
function seededRandom(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
