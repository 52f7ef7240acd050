// Constructs that the grammar leaves out: reports each once and puts a placeholder in its place, so that the rest is checked too.

import type { RefusalCode } from '../diagnostics/codes.js';
import { foundWords } from './expected.js';
import { Token, type TokenType } from './token.js';
import type { Typing } from './typing.js';

const BAD_TEXT: Record<string, RefusalCode> = {
  unclosedString: 'FLOW_UNCLOSED_STRING',
  unclosedTemplate: 'FLOW_UNCLOSED_TEMPLATE',
  unclosedTemplatePart: 'FLOW_UNCLOSED_TEMPLATE',
  unclosedComment: 'FLOW_UNCLOSED_COMMENT',
  unclosedRegex: 'FLOW_REGEX',
  htmlComment: 'FLOW_HTML_COMMENT',
};

/** Refuses the token ahead. Returns what the grammar gets instead; undefined when it was dropped or does not fit here at all. */
export function skipRefused(feed: Typing, ahead: Token): Token | undefined {
  if (ahead.kind === 'bad') return badText(feed, ahead);
  const statement = feed.accepts('empty');
  if (!statement && !feed.accepts('atom')) return undefined;
  switch (ahead.raw) {
    case 'class':
      feed.refuse('FLOW_CLASS', ahead);
      skipClass(feed);
      return placeholder(ahead, statement ? 'empty' : 'atom');
    case 'import':
      return skipImport(feed, ahead, statement);
    case 'export':
      return skipExport(feed, ahead, statement);
    case 'with':
      if (!statement) return undefined;
      feed.refuse('FLOW_WITH', ahead);
      return ahead.as('while');
    case 'debugger':
      feed.refuse('FLOW_DEBUGGER', ahead);
      return ahead.as('atom');
    case 'new':
      feed.refuse('FLOW_NEW_TARGET', ahead, { name: 'new.target' });
      for (let count = 0; count < 3; count++) if (feed.tokens.peek().kind !== 'end') feed.tokens.take();
      return placeholder(ahead, 'atom');
    default:
      return skipYield(feed, ahead);
  }
}

function badText(feed: Typing, ahead: Token): Token | undefined {
  const code = BAD_TEXT[ahead.name];
  const first = new Token('bad', ahead.raw, ahead.start, Math.min(ahead.end, ahead.start + 1), ahead.newline, ahead.name);
  if (ahead.name === 'hashbang' && ahead.start === 0) feed.refuse('FLOW_HASHBANG', ahead);
  else if (code) feed.refuse(code, first, { found: ahead.raw === '--' ? '-->' : '<!--' });
  else feed.refuse('FLOW_STRANGE_CHARACTER', first, { found: foundWords(ahead) });
  if (code && ahead.name !== 'htmlComment' && ahead.name !== 'unclosedComment' && feed.accepts('atom')) return ahead.as('atom');
  feed.tokens.take();
  if (ahead.raw === '--') while (!feed.tokens.peek().newline && feed.tokens.peek().kind !== 'end') feed.tokens.take();
  return undefined;
}

function placeholder(from: Token, type: TokenType): Token {
  return new Token('bad', '', from.start, from.end, from.newline, '').as(type);
}

function skipClass(feed: Typing): void {
  let depth = 0;
  for (;;) {
    const { kind, raw } = feed.tokens.peek();
    if (kind === 'end') return;
    feed.tokens.take();
    if (kind === 'tplHead' || raw === '{') depth += 1;
    else if (kind === 'tplTail' || raw === '}') {
      depth -= 1;
      if (depth <= 0) return;
    }
  }
}

function skipImport(feed: Typing, ahead: Token, statement: boolean): Token | undefined {
  feed.refuse('FLOW_IMPORT', ahead);
  feed.tokens.take();
  const next = feed.tokens.peek().raw;
  // import(…) and import.meta are values.
  if (!statement || next === '(' || next === '.') return placeholder(ahead, 'atom');
  skipClause(feed);
  return placeholder(ahead, 'empty');
}

function skipExport(feed: Typing, ahead: Token, statement: boolean): Token | undefined {
  if (!statement) return undefined;
  feed.refuse('FLOW_EXPORT', ahead);
  feed.tokens.take();
  if (feed.tokens.peek().raw === 'default') feed.tokens.take();
  const next = feed.tokens.peek().raw;
  if (next !== '{' && next !== '*') return undefined;
  skipClause(feed);
  return placeholder(ahead, 'empty');
}

/** `{ a, b as c } from "d";` and similar: ends with the module's name, a semicolon or the line. */
function skipClause(feed: Typing): void {
  let depth = 0;
  for (let first = true; ; first = false) {
    const { kind, raw, newline } = feed.tokens.peek();
    if (kind === 'end' || (depth === 0 && newline && !first)) return;
    feed.tokens.take();
    if (raw === '{') depth += 1;
    else if (raw === '}') depth -= 1;
    else if (raw === ';') return;
    else if (kind === 'string') break;
  }
  if (feed.tokens.peek().raw === ';') feed.tokens.take();
}

function skipYield(feed: Typing, ahead: Token): Token | undefined {
  feed.refuse('FLOW_GENERATOR', ahead);
  feed.tokens.take();
  if (feed.tokens.peek().raw === '*') feed.tokens.take();
  const next = feed.tokens.peek();
  const bare = next.newline || next.kind === 'end' || [';', ')', ']', '}', ',', ':', '='].includes(next.raw);
  return bare ? placeholder(ahead, 'atom') : undefined;
}
