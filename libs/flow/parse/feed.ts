// Feeds the tokens to the grammar, inserts semicolons, and recovers after errors.

import type nearley from 'nearley';
import type { RefusalCode } from '../diagnostics/codes.js';
import { type Fault, faultOf } from '../diagnostics/fault.js';
import { expectedWords, foundWords, hintFor } from './expected.js';
import { Token, type TokenType } from './token.js';
import { type Column, type EarleyParser, Typing } from './typing.js';

const MAX_ERRORS = 40;
/** After these a statement may begin, which is where reading goes on after an error. */
const BEFORE_STATEMENT = new Set(['semi', 'empty', 'doSemi', '}', 'lblock', ':', '']);

/** The lexer that nearley's parser sees. It never returns a token that the grammar would not accept. */
export class Feed extends Typing {
  readonly faults: Fault[] = [];
  /** Parsing was abandoned: the tree is incomplete. */
  gaveUp = false;
  private ended = false;

  attach(parser: nearley.Parser): void {
    this.parser = parser as unknown as EarleyParser;
  }

  /** The next token that the grammar can accept; undefined at the end. */
  next(): Token | undefined {
    while (!this.ended) {
      if (BEFORE_STATEMENT.has(this.previous.type) && this.atListStart())
        this.brackets.mark(this.parser.table[this.parser.current], this.parser.current);
      const ahead = this.tokens.peek();
      const token = this.restricted(ahead) ?? this.typed(ahead) ?? this.withoutType(ahead);
      if (!token) continue;
      if (token === this.tokens.peek() || token.asyncStart >= 0) this.tokens.take();
      this.previous = token;
      if (token.type === 'eof') this.ended = true;
      else if (!this.brackets.follow(token)) this.giveUp('FLOW_TOO_DEEP', token, { limit: String(this.brackets.limit) });
      if (!this.gaveUp) return token;
    }
    return undefined;
  }

  // The rest of nearley's lexer interface.
  reset(): void {}
  save(): Record<string, never> {
    return {};
  }
  formatError(): string {
    return '';
  }

  /** Reports a construct outside of Flow now, because the grammar never sees it. */
  refuse(code: RefusalCode, token: Token, words?: Record<string, string>): void {
    this.report(faultOf(code, token.start, token.end, words));
  }

  private report(fault: Fault): void {
    this.faults.push(fault);
    if (this.faults.length < MAX_ERRORS) return;
    this.faults.push(faultOf('FLOW_TOO_MANY', fault.end, fault.end));
    this.stop();
  }

  private giveUp(code: RefusalCode, token: Token, words?: Record<string, string>): void {
    this.refuse(code, token, words);
    this.stop();
  }

  private stop(): void {
    this.gaveUp = true;
    this.ended = true;
  }

  /** The token ahead was refused and dropped, or fits nowhere: then a semicolon is missing before it, or it is an error. */
  private withoutType(ahead: Token): Token | undefined {
    if (this.tokens.peek() !== ahead) return undefined;
    const semicolon = this.semicolonBefore(ahead);
    if (!semicolon) this.recover(ahead);
    return semicolon;
  }

  // Line breaks that end a statement by themselves

  private restricted(ahead: Token): Token | undefined {
    // A semicolon on the next line still ends the statement itself.
    if (!ahead.newline || ahead.raw === ';') return undefined;
    if (this.previous.type === 'jump' || (this.previous.type === 'exit' && this.previous.raw === 'return'))
      return this.insertSemicolon('semi');
    if (this.previous.type === 'exit') {
      this.refuse('FLOW_THROW', this.previous);
      this.previous = new Token('word', 'throw', this.previous.start, this.previous.end, false, '');
    }
    return undefined;
  }

  private semicolonBefore(ahead: Token): Token | undefined {
    if (this.accepts('doSemi')) return this.insertSemicolon('doSemi');
    if (!ahead.newline && ahead.kind !== 'end' && ahead.raw !== '}') return undefined;
    return this.accepts('semi') ? this.insertSemicolon('semi') : undefined;
  }

  private insertSemicolon(type: TokenType): Token {
    const at = this.previous.end;
    return new Token('punctuator', '', at, at, false, '').as(type);
  }

  // Errors

  /** A place in a list of statements, as opposed to the body of an `if`. */
  private atListStart(): boolean {
    return this.accepts('empty') && (this.accepts('}') || this.accepts('eof'));
  }

  private recover(found: Token): void {
    this.report(this.unexpected(found));
    if (found.kind === 'end') this.stop();
    if (this.gaveUp) return;
    const { column, index } = this.brackets.skipStatement(this.tokens, this.parser.current);
    this.parser.table.length = index + 1;
    this.parser.table[index] = column as Column;
    this.parser.current = index;
    this.previous = new Token('punctuator', '', found.start, found.start, false, '');
  }

  private unexpected(token: Token): Fault {
    const types = new Set<string>();
    for (const { rule, dot } of this.parser.table[this.parser.current].scannable) {
      types.add((rule.symbols[dot] as { type: TokenType }).type);
    }
    const words = { expected: expectedWords(types), found: foundWords(token), hint: hintFor(types, token) };
    const open = this.brackets.innermost();
    if (token.kind === 'end' && open) {
      const [sign, close] = open.token.type === 'tplHead' ? ['${', '}'] : [open.token.raw, open.close];
      return faultOf('FLOW_UNCLOSED', open.token.start, open.token.end, { ...words, open: sign, close });
    }
    return faultOf('FLOW_UNEXPECTED', token.start, token.end, words);
  }
}
