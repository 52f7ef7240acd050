// Medians over the rounds, printed as one table per workload.

import { median } from '../statistics.mjs';
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
    numbers: Object.fromEntries(Object.entries(values).map(([name, measured]) => [name, median(measured)])),
  }));
}

export function printResults(results, contestants) {
  const medians = mediansOf(results);
  for (const name of new Set(medians.map(({ workload }) => workload))) {
    console.log(`\n${WORKLOADS[name].title}`);
    const ours = medians.find(({ workload, contestant }) => workload === name && contestant === 'Rhythm')?.numbers;
    const rows = contestants.flatMap((contestant) => {
      const found = medians.find((one) => one.workload === name && one.contestant === contestant.name);
      return found ? [{ contestant: contestant.name, ...rounded(found.numbers), 'Rhythm ÷ this': ratioText(ours, found.numbers) }] : [];
    });
    console.table(rows);
  }
}

/** The numbers of one trial on a line. */
export function formatNumbers(numbers) {
  return Object.entries(numbers)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key} ${value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)}`)
    .join(', ');
}

const rounded = (numbers) =>
  Object.fromEntries(Object.entries(numbers).map(([name, n]) => [name, n >= 100 ? Math.round(n) : Number(n.toFixed(2))]));

// For rates, higher is better; for times, lower.
function ratioText(ours, theirs) {
  if (!ours) return undefined;
  if (ours.perSecond && theirs.perSecond) return `${(ours.perSecond / theirs.perSecond).toFixed(2)} ×`;
  if (ours.p50 && theirs.p50) return `p50 ${(ours.p50 / theirs.p50).toFixed(2)} ×, p99 ${(ours.p99 / theirs.p99).toFixed(2)} × the time`;
  return undefined;
}
