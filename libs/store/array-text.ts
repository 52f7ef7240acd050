// The text of an array parameter. The driver's own writer escapes every item twice by regular expression; this one looks first.

// Items that the reader of array literals would not take as they are: empty, `null`, or with a character that means something.
const SPECIAL = /^$|^null$|["\\{},\s]/i;
const ESCAPED = /["\\]/g;

/** `{…}` as PostgreSQL reads it. `undefined` and `null` are NULL. */
export function arrayText(items: readonly (string | number | boolean | null | undefined)[]): string {
  // Joined in one go: adding piece to piece leaves a chain of strings behind for every item.
  return `{${items.map(itemText).join(',')}}`;
}

function itemText(item: string | number | boolean | null | undefined): string | number | boolean {
  if (item === null || item === undefined) return 'NULL';
  if (typeof item !== 'string' || !SPECIAL.test(item)) return item;
  return `"${item.replace(ESCAPED, '\\$&')}"`;
}
