// An array in PostgreSQL's text form, where it is part of another value, such as the tags of one of many executions.

const ESCAPED = /["\\]/g;

/** The array in PostgreSQL's own notation, `{…}`. */
export function arrayText(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : `"${item.replace(ESCAPED, '\\$&')}"`)).join(',')}}`;
}
