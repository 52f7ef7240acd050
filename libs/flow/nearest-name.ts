// Finds the name that a typo was probably meant to be.

/** The candidate with the smallest edit distance, if it is near enough to be a likely typo. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.min(3, Math.floor(name.length / 2)) + 0.5;
  const folded = fold(name);
  for (const candidate of candidates) {
    const isSameFolded = fold(candidate) === folded;
    if (!isSameFolded && Math.abs(candidate.length - name.length) > bestDistance) continue;
    const distance = isSameFolded ? 0.25 : editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

// maxConnections, max_connections, MAX-CONNECTIONS: a person takes them for one name.
function fold(name: string): string {
  return name.toLowerCase().replace(/[_\-. ]/g, '');
}

/** Insertions, deletions, substitutions and swaps of neighbours, each counted as one. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      let best = Math.min(row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1), row[j] + 1, next[j - 1] + 1);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) best = Math.min(best, before[j - 2] + 1);
      next.push(best);
    }
    before = row;
    row = next;
  }
  return row[to.length];
}
