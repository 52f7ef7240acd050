// The text of an array parameter. The driver's own writer escapes every item twice by regular expression; this one looks first.

// Items that the reader of array literals would not take as they are: empty, `null`, or with a character that means something.
const SPECIAL = /^$|^null$|["\\{},\s]/i;
const ESCAPED = /["\\]/g;

/** `{…}` as PostgreSQL reads it. `undefined` and `null` are NULL. */
export function arrayText(items: readonly (string | number | boolean | null | undefined)[]): string {
  let text = '{';
  for (let n = 0; n < items.length; n++) {
    const item = items[n];
    if (n > 0) text += ',';
    if (item === null || item === undefined) text += 'NULL';
    else if (typeof item !== 'string') text += item;
    else if (SPECIAL.test(item)) text += `"${item.replace(ESCAPED, '\\$&')}"`;
    else text += item;
  }
  return `${text}}`;
}
