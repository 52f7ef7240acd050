// Finds the known name that a mistyped one was probably meant to be, and says so in words.

import { editDistance } from '../libs/flow/index.js';

/** The known name closest to `name`, when it is close enough to be a typo. */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  const folded = fold(name);
  for (const candidate of known) {
    const sameName = folded === fold(candidate);
    if (!sameName && Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = sameName ? 0 : editDistance(name, candidate);
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
