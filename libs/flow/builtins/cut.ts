// Substrings that do not keep the rest alive: in V8 a long substring refers to its source, however large that is.

/** V8 copies shorter parts anyway, and parts of small strings keep little alive. */
const COPIED_BY_V8 = 13;
const SMALL = 1_024;

/** `text.slice(from, to)` as a string of its own, which takes no more memory than its length. */
export function cut(text: string, from: number, to = text.length): string {
  return detached(text, text.slice(from, to));
}

/** The same for a part that another host function has cut. */
export function detached(text: string, part: string): string {
  if (part.length < COPIED_BY_V8 || text.length <= SMALL || part.length === text.length) return part;
  // Joined with something and cut again, it refers to a fresh string that holds nothing else.
  return ` ${part}`.slice(1);
}
