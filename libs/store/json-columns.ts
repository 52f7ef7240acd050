// JSON text in columns that people query: stored as it was written, unless PostgreSQL could not read it.

/** The two columns that a JSON text becomes. Both null: the value was `undefined`. */
export interface JsonColumns {
  /** What people see and query: the text itself, or what is left of it when PostgreSQL would refuse it (NUL, lone surrogates). */
  readable: string | null;
  /** The text itself, only when the readable one differs. */
  verbatim: string | null;
}

/**
 * Splits a JSON text over the two columns. A `json` column keeps key order and every character; only an escaped NUL or half
 * a surrogate pair makes `->>` and a cast to `jsonb` fail, for every query over the table. Such a text is stored separately.
 */
export function jsonColumns(text: string | undefined): JsonColumns {
  if (text === undefined) return { readable: null, verbatim: null };
  return UNREADABLE.test(text) ? { readable: readable(text), verbatim: text } : { readable: text, verbatim: null };
}

/** Whether PostgreSQL can read a JSON text as it is. */
export function isReadable(text: string | undefined): boolean {
  return text === undefined || !UNREADABLE.test(text);
}

/** In SQL, the text as it was written, from the two columns. */
export function jsonText(column: 'inputs' | 'output', e = 'e.'): string {
  return `coalesce(${e}${column}_verbatim::text, ${e}${column}::text)`;
}

/** A JSON text that PostgreSQL can read: every character that it refuses becomes U+FFFD. */
export function readable(text: string): string {
  if (!UNREADABLE.test(text)) return text;
  return JSON.stringify(JSON.parse(text), (_key, value) => replaceRefused(value));
}

// Escapes of NUL and of surrogates. A pair of surrogates written as escapes would be fine; it is rare enough to be parsed anyway.
const UNREADABLE = /\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})/;

function replaceRefused(value: unknown): unknown {
  if (typeof value === 'string') return replaceIn(value);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [replaceIn(key), entry]));
}

// With the u flag a surrogate class matches only lone surrogates.
const REFUSED = /[\0\uD800-\uDFFF]/gu;

function replaceIn(text: string): string {
  return text.replace(REFUSED, '\uFFFD');
}
