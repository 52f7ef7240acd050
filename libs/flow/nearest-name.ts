// Finds the name that a typo was probably meant to be.

/** The candidate that a typo most likely explains: other case or separators, else few edits for its length; undefined if there is none. */
export function nearestName(name: string, candidates: Iterable<string>): string | undefined {
  const { length } = name;
  let best: string | undefined;
  let bestDistance = Math.min(Math.floor(length / 2), Math.max(3, Math.floor(length / 3))) + 0.5;
  const folded = fold(name);
  for (const candidate of candidates) {
    const sameName = fold(candidate) === folded;
    if (!sameName && Math.abs(candidate.length - length) > bestDistance) continue;
    const distance = sameName ? 0.25 : editDistance(name, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

// maxConnections, max_connections and MAX-CONNECTIONS look like one name.
function fold(name: string): string {
  return name.toLowerCase().replace(/[_\-. ]/g, '');
}

/** Insertions, deletions, substitutions and swaps of neighbours, each counted as one; Infinity if there are more than `most`. */
function editDistance(from: string, to: string, most: number): number {
  let before: number[] = [];
  let leastBefore = 0;
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    let least = i;
    for (let j = 1; j <= to.length; j++) {
      let best = Math.min(row[j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1), row[j] + 1, next[j - 1] + 1);
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) best = Math.min(best, before[j - 2] + 1);
      next.push(best);
      least = Math.min(least, best);
    }
    // A later row is never smaller than both of the rows before it.
    if (least > most && leastBefore > most) return Number.POSITIVE_INFINITY;
    leastBefore = least;
    before = row;
    row = next;
  }
  return row[to.length];
}
