// Finds the known name that a mistyped one was probably meant to be, and says so in words.

/** The known name closest to `name`, when it is close enough to be a slip of the hand. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  const folded = fold(name);
  for (const candidate of known) {
    const distance = folded === fold(candidate) ? 0 : editDistance(name, candidate, bestDistance);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** " Did you mean "x"?" or an empty string. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const found = nearest(name, known);
  return found === undefined ? '' : ` Did you mean "${found}"?`;
}

/** `"a", "b", "c" and 4 more`, or `none` when there are none. */
export function listNames(names: readonly string[], most = 20): string {
  if (names.length === 0) return 'none';
  const shown = [...names]
    .sort()
    .slice(0, most)
    .map((name) => `"${name}"`);
  return names.length > most ? `${shown.join(', ')} and ${names.length - most} more` : shown.join(', ');
}

// maxConnections, max_connections, MAX-CONNECTIONS: one name to the eye.
function fold(name: string): string {
  return name.toLowerCase().replace(/[_\-. ]/g, '');
}

// Levenshtein with a swap of neighbours as one edit; gives up once `limit` cannot be beaten.
function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, beforeLast[j - 2]! + 1);
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length]!;
}
