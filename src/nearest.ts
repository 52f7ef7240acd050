// Names in messages: the one that was probably meant, and those that exist.

import { nearestName } from '../libs/flow/index.js';

export { nearestName as nearest };

/** " Did you mean "x"?" or an empty string. */
export function didYouMean(name: string, known: Iterable<string>): string {
  const found = nearestName(name, known);
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
