// The words and signs of JavaScript that mean more than a name, and the grammar types they may take.

import type { TokenType } from './token.js';

/** Words with one meaning: the type they have wherever that meaning is possible. */
export const KEYWORDS: ReadonlyMap<string, TokenType> = new Map<string, TokenType>([
  ...(['if', 'else', 'while', 'for', 'do', 'try', 'catch', 'finally', 'switch', 'case', 'default', 'new'] as const).map(
    (word) => [word, word] as const,
  ),
  ...['let', 'const', 'var'].map((word) => [word, 'declare'] as const),
  ...['return', 'throw'].map((word) => [word, 'exit'] as const),
  ...['break', 'continue'].map((word) => [word, 'jump'] as const),
  ...['typeof', 'void', 'delete', 'await'].map((word) => [word, 'prefix'] as const),
  ...['true', 'false', 'null', 'this', 'super'].map((word) => [word, 'atom'] as const),
  ['instanceof', 'binop'],
]);

/** Words that strict JavaScript reserves without using them. */
export const RESERVED = new Set(['enum', 'implements', 'interface', 'package', 'private', 'protected', 'public', 'static', 'yield']);

/** Every word that cannot be a name, even written with escapes. */
export function isReserved(name: string): boolean {
  return KEYWORDS.has(name) || RESERVED.has(name) || NEVER_NAMES.has(name);
}

const NEVER_NAMES = new Set(['function', 'in', 'class', 'import', 'export', 'with', 'debugger']);

/** Signs with one type each; the rest are decided by the feeder. */
export const SIGNS: ReadonlyMap<string, TokenType> = new Map<string, TokenType>([
  ...(['(', ')', '[', ']', '}', ',', ':', '.', '?.', '?', '=', '=>', '...'] as const).map((sign) => [sign, sign] as const),
  ...['!', '~'].map((sign) => [sign, 'prefix'] as const),
  ...['+=', '-=', '*=', '%=', '**=', '<<=', '>>=', '>>>=', '&=', '|=', '^=', '&&=', '||=', '??='].map(
    (sign) => [sign, 'assignOp'] as const,
  ),
  ...['===', '!==', '==', '!=', '<', '>', '<=', '>=', '&&', '||', '??', '<<', '>>', '>>>', '**', '%', '&', '|', '^'].map(
    (sign) => [sign, 'binop'] as const,
  ),
]);
