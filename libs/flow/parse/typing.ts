// Gives each token the type that the grammar needs at its place, by asking what it would accept there.

import type { RefusalCode } from '../diagnostics/codes.js';
import { Brackets } from './brackets.js';
import type { Tokens } from './lexer.js';
import { skipRefused } from './refused.js';
import { Token, type TokenType } from './token.js';
import { isReserved, KEYWORDS, RESERVED, SIGNS } from './words.js';

/** One step of nearley's table, as far as the feeder reads it. */
export interface Column {
  scannable: { rule: { symbols: ({ type: TokenType } | string)[] }; dot: number }[];
}

/** nearley's parser with the table that its typings leave out. */
export interface EarleyParser {
  table: Column[];
  current: number;
}

export abstract class Typing {
  protected parser!: EarleyParser;
  /** The token that was fed last. */
  protected previous: Token = new Token('punctuator', '', 0, 0, false, '');
  protected readonly brackets: Brackets;

  constructor(
    readonly tokens: Tokens,
    nestingDepth: number,
  ) {
    this.brackets = new Brackets(nestingDepth);
  }

  /** Reports a construct outside of Flow now, because the grammar never sees it. */
  abstract refuse(code: RefusalCode, token: Token, words?: Record<string, string>): void;

  /** Whether the grammar can take a token of this type next. */
  accepts(type: TokenType): boolean {
    const { scannable } = this.parser.table[this.parser.current];
    for (let i = scannable.length; i--; ) {
      const { rule, dot } = scannable[i];
      if ((rule.symbols[dot] as { type: TokenType }).type === type) return true;
    }
    return false;
  }

  /** The token with a type that fits here; undefined when none does, or when it was refused and dropped. */
  protected typed(ahead: Token): Token | undefined {
    switch (ahead.kind) {
      case 'word':
        return this.typedWord(ahead);
      case 'punctuator':
        return this.typedSign(ahead);
      case 'number':
      case 'string':
        if (this.afterDot()) return undefined;
        return this.firstOf(ahead, 'atom', 'key');
      case 'tplFull':
      case 'tplHead':
        return this.firstOf(ahead, ahead.kind === 'tplFull' ? 'atom' : 'tplHead') ?? this.taggedTemplate(ahead);
      case 'tplMid':
      case 'tplTail':
        return this.firstOf(ahead, ahead.kind);
      case 'regex':
        return this.firstOf(ahead, 'atom');
      case 'end':
        return this.firstOf(ahead, 'eof');
      case 'bad':
        return skipRefused(this, ahead);
    }
  }

  private firstOf(token: Token, ...types: TokenType[]): Token | undefined {
    for (const type of types) if (this.accepts(type)) return token.as(type);
    return undefined;
  }

  private afterDot(): boolean {
    return this.previous.type === '.' || this.previous.type === '?.';
  }

  private typedWord(ahead: Token): Token | undefined {
    if (this.afterDot()) return this.firstOf(ahead, 'key');
    const { name, raw } = ahead;
    if (name !== raw && isReserved(name)) {
      if (this.accepts('key')) return ahead.as('key');
      this.refuse('FLOW_ESCAPED_KEYWORD', ahead, { name });
      return this.firstOf(ahead, 'name');
    }
    if (name === raw) {
      const keyword = KEYWORDS.get(raw);
      if (keyword !== undefined) return this.typedKeyword(ahead, keyword);
      const special = this.typedSpecial(ahead);
      if (special !== undefined) return special ?? undefined;
      if (RESERVED.has(raw) && !this.accepts('key')) {
        if (this.accepts('name')) this.refuse('FLOW_RESERVED', ahead, { name });
        return this.firstOf(ahead, 'name');
      }
      if (RESERVED.has(raw)) return ahead.as('key');
    }
    return this.firstOf(ahead, 'name', 'key');
  }

  private typedKeyword(ahead: Token, type: TokenType): Token | undefined {
    if (ahead.raw === 'new' && this.accepts('new') && this.decideByNext(ahead, (next) => (next.raw === '.' ? ahead : undefined)))
      return skipRefused(this, ahead);
    if (this.accepts(type)) return ahead.as(type);
    if (this.accepts('key')) return ahead.as('key');
    if (ahead.raw === 'await' && this.previous.type === 'for') {
      this.refuse('FLOW_FOR_AWAIT', ahead);
      this.tokens.take();
    }
    return undefined;
  }

  /** `undefined`: nothing special, an ordinary name. `null`: dropped or impossible. */
  private typedSpecial(ahead: Token): Token | null | undefined {
    switch (ahead.raw) {
      case 'function':
        return this.typedFunction(ahead);
      case 'async':
        return this.typedAsync(ahead);
      case 'of':
        return this.accepts('of') ? ahead.as('of') : undefined;
      case 'in':
        return this.firstOf(ahead, this.brackets.inForHead() ? 'forIn' : 'binop', 'key') ?? null;
      case 'workflow':
        if (!this.accepts('workflow') || this.brackets.depth > 0) return undefined;
        return this.decideByNext(ahead, (next) => (next.raw === '(' ? ahead.as('workflow') : undefined));
      case 'get':
      case 'set':
      case 'static':
        if (!this.accepts('asyncKey') || !this.isModifier(ahead)) return undefined;
        this.refuse('FLOW_ACCESSOR', ahead);
        return null;
      case 'class':
      case 'import':
      case 'export':
      case 'with':
      case 'debugger':
      case 'yield':
        if (this.accepts('key')) return ahead.as('key');
        return skipRefused(this, ahead) ?? null;
    }
    return undefined;
  }

  private typedFunction(ahead: Token): Token | null {
    const token = this.firstOf(ahead, 'functionDecl', 'functionExpr', 'key');
    if (token && token.type !== 'key') {
      this.tokens.take();
      if (this.tokens.peek().raw === '*') this.refuse('FLOW_GENERATOR', this.tokens.take());
      this.tokens.putBack(ahead);
    }
    return token ?? null;
  }

  private typedAsync(ahead: Token): Token | null | undefined {
    if (this.accepts('key')) return this.accepts('asyncKey') && this.isModifier(ahead, true) ? ahead.as('asyncKey') : undefined;
    return this.decideByNext(ahead, (next) => {
      if (next.newline || next.kind !== 'word') return undefined;
      const forms: TokenType[] = next.raw === 'function' ? ['functionDecl', 'functionExpr'] : ['asyncName'];
      const type = forms.find((form) => this.accepts(form));
      if (!type || (type === 'asyncName' && isReserved(next.name))) return undefined;
      const folded = new Token('word', next.raw, next.start, next.end, ahead.newline, next.name).as(type);
      folded.asyncStart = ahead.start;
      return folded;
    });
  }

  /** Looks at the token after the lookahead and puts both back, unless `decide` folded them into one. */
  private decideByNext(ahead: Token, decide: (next: Token) => Token | undefined): Token | undefined {
    this.tokens.take();
    const decided = decide(this.tokens.peek());
    if (decided && decided.asyncStart >= 0) {
      if (decided.raw === 'function') {
        const keyword = this.tokens.take();
        if (this.tokens.peek().raw === '*') this.refuse('FLOW_GENERATOR', this.tokens.take());
        this.tokens.putBack(keyword);
      }
      return decided;
    }
    this.tokens.putBack(ahead);
    return decided;
  }

  /** Whether a word at a property's place modifies the name that follows it: `get a() {}`, `async a() {}`. */
  private isModifier(ahead: Token, sameLine = false): boolean {
    this.tokens.take();
    const next = this.tokens.peek();
    const named = ['word', 'string', 'number'].includes(next.kind) || next.raw === '[' || next.raw === '*';
    const modifies = named && !(sameLine && next.newline);
    if (!modifies || sameLine) this.tokens.putBack(ahead);
    return modifies;
  }

  private typedSign(ahead: Token): Token | undefined {
    const { raw } = ahead;
    const only = SIGNS.get(raw);
    if (only !== undefined) {
      if (only === '=>' && ahead.newline && this.accepts('=>'))
        this.refuse('FLOW_ARROW', ahead, { reason: 'the arrow cannot begin a line' });
      return this.firstOf(ahead, only);
    }
    switch (raw) {
      case '{':
        return this.firstOf(ahead, 'lblock', 'lobj');
      case ';':
        return this.firstOf(ahead, 'semi', 'empty', 'forSemi', 'doSemi');
      case '+':
      case '-':
        return this.firstOf(ahead, 'binop', 'prefix');
      case '++':
      case '--':
        if (!ahead.newline && this.accepts('postfix')) return ahead.as('postfix');
        return this.firstOf(ahead, 'prefix');
      case '*':
        if (this.accepts('binop')) return ahead.as('binop');
        if (this.accepts('key') && !this.afterDot()) {
          this.refuse('FLOW_GENERATOR', ahead);
          this.tokens.take();
        }
        return undefined;
      case '/':
      case '/=':
        return this.typedSlash(ahead);
    }
    return undefined;
  }

  private typedSlash(ahead: Token): Token | undefined {
    const operator = this.firstOf(ahead, ahead.raw === '/' ? 'binop' : 'assignOp');
    if (operator || !this.accepts('atom')) return operator;
    const regex = this.tokens.rereadAsRegex();
    return regex.kind === 'regex' ? regex.as('atom') : undefined;
  }

  /** A template directly after a value: parsed as a property, so that only this is reported. */
  private taggedTemplate(ahead: Token): Token | undefined {
    if (ahead.kind === 'tplFull' && this.afterDot()) return this.firstOf(ahead, 'key');
    const whole: TokenType = ahead.kind === 'tplFull' ? '.' : 'binop';
    if (!this.accepts(whole)) return undefined;
    this.refuse('FLOW_TAGGED_TEMPLATE', ahead);
    return new Token('punctuator', whole === '.' ? '.' : '+', ahead.start, ahead.start, false, '').as(whole);
  }
}
