// Medians over the rounds, and what they are beside ours.

import { WORKLOADS } from './workloads.mjs';

/** The median of each number, per workload and contestant. */
export function mediansOf(results) {
  const medians = new Map();
  for (const { workload, contestant, round: _round, failed, ...numbers } of results) {
    const key = `${workload}/${contestant}`;
    const entry = medians.get(key) ?? { workload, contestant, values: {} };
    medians.set(key, entry);
    if (failed !== undefined) continue;
    for (const [name, value] of Object.entries(numbers))
      if (value !== undefined && value !== null) entry.values[name] = [...(entry.values[name] ?? []), value];
  }
  return [...medians.values()].map(({ values, ...entry }) => ({
    ...entry,
    numbers: Object.fromEntries(Object.entries(values).map(([name, list]) => [name, median(list)])),
  }));
}

function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function printResults(results, contestants) {
  const medians = mediansOf(results);
  for (const name of new Set(medians.map(({ workload }) => workload))) {
    console.log(`\n${WORKLOADS[name].title}`);
    const ours = medians.find(({ workload, contestant }) => workload === name && contestant === 'Rhythm')?.numbers;
    const rows = contestants.flatMap((contestant) => {
      const found = medians.find((one) => one.workload === name && one.contestant === contestant.name);
      return found ? [{ contestant: contestant.name, ...rounded(found.numbers), 'Rhythm is': timesFaster(ours, found.numbers) }] : [];
    });
    console.table(rows);
  }
}

const rounded = (numbers) =>
  Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, n >= 100 ? Math.round(n) : Number(n.toFixed(2))]));

/** How many times ours theirs is; for rates more is better, for times less. */
export function timesFaster(ours, theirs) {
  if (!ours) return undefined;
  if (ours.perSecond && theirs.perSecond) return `${(ours.perSecond / theirs.perSecond).toFixed(2)} ×`;
  if (ours.p50 && theirs.p50) return `p50 ${(ours.p50 / theirs.p50).toFixed(2)} ×, p99 ${(ours.p99 / theirs.p99).toFixed(2)} × the time`;
  return undefined;
}
