// JSON text on its way into a column: `jsonb` for people, and the verbatim text beside it when `jsonb` would change it.

/** The two columns that a JSON text becomes. Both null: the value was `undefined`. */
export interface JsonColumns {
  /** Safe for `jsonb`: what PostgreSQL refuses (NUL, lone surrogates) is replaced by U+FFFD. */
  jsonb: string | null;
  /** The text itself, only when reading it back from `jsonb` would give something else. */
  verbatim: string | null;
}

/**
 * Splits a JSON text over the two columns. `jsonb` sorts keys and refuses NUL and lone surrogates, everything else that
 * `JSON.stringify` writes survives it; so most payloads need no second copy, which saves their size in WAL.
 */
export function jsonColumns(text: string | undefined): JsonColumns {
  if (text === undefined) return { jsonb: null, verbatim: null };
  if (UNSTORABLE.test(text)) return { jsonb: readable(text), verbatim: text };
  return { jsonb: text, verbatim: keepsOrder(text) ? null : text };
}

/** A JSON text that `jsonb` accepts: every escape it refuses becomes U+FFFD, as people would read it. */
export function readable(text: string): string {
  if (!UNSTORABLE.test(text)) return text;
  return JSON.stringify(JSON.parse(text), (_key, value) => mend(value));
}

// Escapes of NUL and of surrogates. A pair of surrogates written as escapes is fine in jsonb; it is rare enough to be mended anyway.
const UNSTORABLE = /\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/;

function mend(value: unknown): unknown {
  if (typeof value === 'string') return mendText(value);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [mendText(key), entry]));
}

// With the u flag a surrogate class matches only those that stand alone.
const REFUSED = /[\0\uD800-\uDFFF]/gu;

function mendText(text: string): string {
  return text.replace(REFUSED, '\uFFFD');
}

// jsonb orders the keys of an object by length, then by bytes. Keys beyond ASCII are taken as changed: bytes are not UTF-16 units.
function keepsOrder(text: string): boolean {
  return !text.includes('{') || valueKeepsOrder(JSON.parse(text));
}

function valueKeepsOrder(value: unknown): boolean {
  if (value === null || typeof value !== 'object') return true;
  if (Array.isArray(value)) return value.every(valueKeepsOrder);
  let before = '';
  for (const key of Object.keys(value)) {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range is meant
    if (key.length < before.length || (key.length === before.length && key < before) || !/^[\x00-\x7f]*$/.test(key)) return false;
    if (!valueKeepsOrder((value as Record<string, unknown>)[key])) return false;
    before = key;
  }
  return true;
}
