// Follows the open brackets of the text: how deep it is nested, what `in` means in a `for` head, and where to go on after an error.

import type { Tokens } from './lexer.js';
import type { Token } from './token.js';

/** A place between two statements: the parser's table can be taken back to it. */
export interface Mark {
  column: unknown;
  index: number;
}

interface Open {
  token: Token | null;
  close: string;
  /** In a `for (`: whether the first part has ended, after which `in` is an operator again. */
  forHead: boolean;
  /** Conditional operators whose `:` is still to come. */
  questions: number;
  mark: Mark | null;
}

const CLOSE: Record<string, string> = { '(': ')', '[': ']', lblock: '}', lobj: '}', tplHead: '`' };
const STARTS_STATEMENT = new Set([
  'let',
  'const',
  'var',
  'if',
  'for',
  'while',
  'do',
  'return',
  'throw',
  'try',
  'switch',
  'function',
  'class',
]);

export class Brackets {
  private readonly open: Open[] = [{ token: null, close: '', forHead: false, questions: 0, mark: null }];
  private lastType = '';

  constructor(readonly limit: number) {}

  get depth(): number {
    return this.open.length - 1;
  }

  /** The innermost bracket that is still open. */
  innermost(): { token: Token; close: string } | null {
    const { token, close } = this.open[this.open.length - 1];
    return token && { token, close };
  }

  /** Whether `in` here separates the parts of a `for` head. */
  inForHead(): boolean {
    const top = this.open[this.open.length - 1];
    return top.forHead && top.questions === 0;
  }

  /** Takes note of a token that was fed; false when the text is nested too deep. */
  follow(token: Token): boolean {
    const { type } = token;
    const top = this.open[this.open.length - 1];
    if (type in CLOSE) {
      const forHead = type === '(' && this.lastType === 'for';
      this.open.push({ token, close: CLOSE[type], forHead, questions: 0, mark: null });
    } else if (type === ')' || type === ']' || type === '}' || type === 'tplTail') this.open.pop();
    else if (type === '?') top.questions += 1;
    else if (type === ':' && top.questions > 0) top.questions -= 1;
    else if (type === 'forSemi' || type === 'of' || type === 'forIn') top.forHead = false;
    this.lastType = type;
    return this.depth <= this.limit;
  }

  /** Remembers a place where the statement before is whole and the next has not begun. */
  mark(column: unknown, index: number): void {
    this.open[this.open.length - 1].mark = { column, index };
  }

  /** Skips the rest of a statement that broke at `index` and returns the place before it. */
  skipStatement(tokens: Tokens, index: number): Mark {
    const inner: string[] = [];
    let top = this.open[this.open.length - 1];
    for (; !top.mark; top = this.open[this.open.length - 1]) {
      inner.unshift(top.close === ')' || top.close === ']' ? top.close : '}');
      this.open.pop();
    }
    top.questions = 0;
    this.lastType = '';
    // When nothing was read since the mark, the offending token itself must be skipped, or it would be read again forever.
    skipTo(tokens, inner, this.open.length > 1, top.mark.index === index);
    return top.mark;
  }
}

/** Reads on to the end of a statement: past its `;`, or up to the `}` around it or a word that begins a statement. */
function skipTo(tokens: Tokens, inner: string[], inBlock: boolean, mustMove: boolean): void {
  for (let first = mustMove; ; first = false) {
    const next = tokens.peek();
    if (next.kind === 'end') return;
    const braces = inner.includes('}');
    if (!first && !braces && next.newline && STARTS_STATEMENT.has(next.raw)) return;
    if (next.raw === '}' && next.kind === 'punctuator' && !braces && inBlock) return;
    tokens.take();
    if (next.raw === ';' && !braces) return;
    if (next.kind === 'tplHead' || next.raw === '{') inner.push('}');
    else if (next.kind === 'punctuator' && (next.raw === '(' || next.raw === '[')) inner.push(next.raw === '(' ? ')' : ']');
    else if (next.raw === '}' || next.kind === 'tplTail') {
      inner.splice(Math.max(inner.lastIndexOf('}'), 0));
      if (inner.length === 0 && tokens.peek().newline && !first) return;
    } else if (next.raw === inner.at(-1)) inner.pop();
  }
}
