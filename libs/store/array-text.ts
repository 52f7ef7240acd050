// The text of an array that stands inside another value, such as the tags of one of many executions.

const ESCAPED = /["\\]/g;

/** `{…}` as PostgreSQL reads it. */
export function arrayText(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : `"${item.replace(ESCAPED, '\\$&')}"`)).join(',')}}`;
}
