// Puts into words what the grammar would accept at a place.

import type { Token } from './token.js';

const QUOTED = [')', ']', '}', ',', ':', '=>', '=', '(', '{', 'of', 'while', 'catch', 'finally', 'case'];

/** "an expression", "`,` or `)`": what would have been accepted. */
export function expectedWords(types: ReadonlySet<string>): string {
  if (types.has('empty')) return types.has('case') && !types.has('}') ? 'case or default' : 'a statement';
  const words: string[] = [];
  if (types.has('atom')) words.push('an expression');
  else if (types.has('key')) words.push(types.has('name') ? 'a property' : 'a property name');
  else if (types.has('name')) words.push('a name');
  for (const sign of QUOTED) {
    if (!types.has(sign) && !(sign === '{' && types.has('lblock'))) continue;
    // After a value almost any sign may follow; only what closes the enclosing bracket helps.
    if (types.has('binop') && ['=', '(', '=>', '[', 'of'].includes(sign)) continue;
    if (types.has('atom') && (sign === ',' || sign === '(')) continue;
    // Any name that begins a statement might be a label.
    if (types.has('semi') && sign === ':') continue;
    words.push(sign === 'of' ? 'of' : /^\w/.test(sign) ? sign : `\`${sign}\``);
  }
  if (types.has('semi') || types.has('forSemi')) words.push('`;`');
  if (types.has('binop') && words.length === 0) words.push('an operator');
  if (words.length === 0) words.push(types.has('eof') ? 'the end of the file' : 'something else');
  return words.length === 1 ? words[0] : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** A token as it is quoted in a message. */
export function foundWords(token: Token): string {
  if (token.kind === 'end') return 'the end of the file';
  if (token.kind === 'string') return token.raw.length > 24 ? 'a string' : token.raw;
  if (token.kind.startsWith('tpl')) return 'a template literal';
  const shown = token.raw.length > 24 ? `${token.raw.slice(0, 24)}…` : token.raw;
  return `\`${shown}\``;
}

/** What to do about it, as far as the expectation alone tells. */
export function hintFor(types: ReadonlySet<string>, found: Token): string {
  if (found.kind === 'word' && types.has('name') && !types.has('atom')) return `${found.name} is a reserved word; choose another name.`;
  if (found.raw === ':' && types.has('=')) return 'Flow has no type annotations: remove the colon and the type.';
  if (types.has('empty')) return 'Check the brackets and the end of the statement before it.';
  if (types.has('atom')) return 'Write the missing value, or remove what comes before it.';
  if (types.has('semi')) return 'Begin a new statement on a new line or after `;`, or join the two with an operator.';
  if (types.has(',')) return 'Put a comma between two elements, or close the list.';
  return 'Write what is missing before it, or remove it.';
}
