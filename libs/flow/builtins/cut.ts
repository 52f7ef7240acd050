// Parts of texts that do not keep the rest alive: V8 lets a long part refer into its source, however large that is.

/** Shorter parts are copied by V8 anyway, and parts of small texts keep little alive. */
const COPIED_BY_V8 = 13;
const SMALL = 1_024;

/** `text.slice(from, to)` as a text of its own, so that its length says what it holds. */
export function cut(text: string, from: number, to = text.length): string {
  return detached(text, text.slice(from, to));
}

/** The same for a part that some other function of the host made of the text. */
export function detached(text: string, part: string): string {
  if (part.length < COPIED_BY_V8 || text.length <= SMALL || part.length === text.length) return part;
  // Joined with something and cut again it refers to a fresh text that holds nothing else.
  return ` ${part}`.slice(1);
}
