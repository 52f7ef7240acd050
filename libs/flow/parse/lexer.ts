// Cuts the source text into tokens. Whether a `/` divides or begins a regular expression is decided by the caller, which knows the grammar.

import moo from 'moo';
import { Token, type TokenKind } from './token.js';

const NEWLINE = /[\n\r\u2028\u2029]/;
const TEMPLATE = '[^`\\\\$]*(?:(?:\\\\[\\s\\S]|\\$(?!\\{))[^`\\\\$]*)*';

// Single characters come first: moo finds those without running the regular expression.
// Every loop below is unrolled so that no source, however broken, makes it backtrack more than once.
const SHARED: moo.Rules = {
  single: ['(', ')', '[', ']', '{', ';', ',', ':', '~'],
};
const REST: moo.Rules = {
  trivia: { match: /(?:\s+|\/\/[^\n\r\u2028\u2029]*|\/\*[\s\S]*?\*\/)/u, lineBreaks: true },
  word: /(?:[$_\p{ID_Start}]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,8}\}))(?:[\u200d\u200c$\p{ID_Continue}]|\\u(?:[0-9a-fA-F]{4}|\{[0-9a-fA-F]{1,8}\}))*/u,
  number:
    /(?:0[xXoObB][$\p{ID_Continue}]*|(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE](?:[+-][0-9_]*)?[0-9_]*)?[$\p{ID_Continue}]*)/u,
  string: {
    match: /(?:"[^"\\\n\r]*(?:\\(?:\r\n|[\s\S])[^"\\\n\r]*)*"|'[^'\\\n\r]*(?:\\(?:\r\n|[\s\S])[^'\\\n\r]*)*')/u,
    lineBreaks: true,
  },
  tplFull: { match: new RegExp(`\`${TEMPLATE}\``, 'u'), lineBreaks: true },
  tplHead: { match: new RegExp(`\`${TEMPLATE}\\$\\{`, 'u'), lineBreaks: true },
  htmlComment: /<!--[^\n\r\u2028\u2029]*/u,
  hashbang: /#![^\n\r\u2028\u2029]*/u,
  optional: /\?\.(?![0-9])/u,
  punctuator: [
    ...['>>>=', '...', '===', '!==', '**=', '<<=', '>>=', '>>>', '&&=', '||=', '??=', '=>', '==', '!=', '<=', '>=', '&&', '||', '??'],
    ...['++', '--', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<', '>>', '**'],
    ...['.', '?', '=', '<', '>', '+', '-', '*', '/', '%', '&', '|', '^', '!'],
  ],
  unclosedString: /["'][^\n\r]*/u,
  unclosedTemplate: { match: /`[\s\S]*/u, lineBreaks: true },
  strange: /\S/u,
};
// A comment without an end must not be read as a division; the alternative comes before the punctuators.
const { trivia, ...afterTrivia } = REST;
const MAIN: moo.Rules = { ...SHARED, brace: '}', trivia, unclosedComment: { match: /\/\*[\s\S]*/u, lineBreaks: true }, ...afterTrivia };
const IN_TEMPLATE: moo.Rules = {
  ...SHARED,
  tplTail: { match: new RegExp(`\\}${TEMPLATE}\``, 'u'), lineBreaks: true },
  tplMid: { match: new RegExp(`\\}${TEMPLATE}\\$\\{`, 'u'), lineBreaks: true },
  unclosedTemplatePart: { match: /\}[\s\S]*/u, lineBreaks: true },
  trivia,
  unclosedComment: { match: /\/\*[\s\S]*/u, lineBreaks: true },
  ...afterTrivia,
};
const REGEX: moo.Rules = {
  regex: /(?:[^/\\[\n\r\u2028\u2029]|\\[^\n\r\u2028\u2029]|\[(?:[^\]\\\n\r\u2028\u2029]|\\[^\n\r\u2028\u2029])*\])*\/[$\p{ID_Continue}]*/u,
  unclosedRegex: { match: /(?:[^\n\r\u2028\u2029]+|[\n\r\u2028\u2029])/u, lineBreaks: true },
};

const KIND_OF: Record<string, TokenKind> = {
  single: 'punctuator',
  brace: 'punctuator',
  optional: 'punctuator',
  punctuator: 'punctuator',
  word: 'word',
  number: 'number',
  string: 'string',
  tplFull: 'tplFull',
  tplHead: 'tplHead',
  tplMid: 'tplMid',
  tplTail: 'tplTail',
};

const lexer = moo.states({ main: MAIN, inTemplate: IN_TEMPLATE, regex: REGEX }, 'main');

/** The tokens of one source text, with one token of lookahead. */
export class Tokens {
  private readonly ahead: Token[] = [];
  /** For each open `{` or `${`: whether its `}` continues a template. */
  private readonly braces: boolean[] = [];

  constructor(private readonly source: string) {
    lexer.reset(source);
  }

  peek(): Token {
    if (this.ahead.length === 0) this.ahead.push(this.read());
    return this.ahead[0];
  }

  take(): Token {
    return this.ahead.shift() ?? this.read();
  }

  /** Undoes a `take`. */
  putBack(token: Token): void {
    this.ahead.unshift(token);
  }

  /** The lookahead is a `/` or `/=` where an operand is needed: reads on to the end of the regular expression. */
  rereadAsRegex(): Token {
    const slash = this.take();
    lexer.setState('regex');
    const rest = slash.end < this.source.length ? lexer.next() : undefined;
    this.enterState();
    const raw = slash.raw + (rest?.text ?? '');
    const closed = rest?.type === 'regex';
    const regex = new Token(
      closed ? 'regex' : 'bad',
      raw,
      slash.start,
      slash.start + raw.length,
      slash.newline,
      closed ? '' : 'unclosedRegex',
    );
    this.ahead.push(regex);
    return regex;
  }

  private read(): Token {
    let newline = false;
    for (;;) {
      const found = lexer.next();
      if (!found) return new Token('end', '', this.source.length, this.source.length, newline, '');
      const { type = 'strange', text, offset } = found;
      if (type === 'trivia') {
        newline ||= NEWLINE.test(text);
        continue;
      }
      this.followBraces(type, text);
      // At the beginning of a line `-->` is what old scripts end an HTML comment with; elsewhere it is `--` and `>`.
      if (text === '--' && (newline || offset === 0) && this.source[offset + 2] === '>')
        return new Token('bad', text, offset, offset + 2, newline, 'htmlComment');
      const kind = KIND_OF[type] ?? 'bad';
      return new Token(kind, text, offset, offset + text.length, newline, kind === 'word' ? nameOf(text) : kind === 'bad' ? type : '');
    }
  }

  private followBraces(type: string, text: string): void {
    if (text === '{' && type === 'single') this.braces.push(false);
    else if (type === 'tplHead') this.braces.push(true);
    else if (type === 'brace' || type === 'tplTail') this.braces.pop();
    else return;
    this.enterState();
  }

  private enterState(): void {
    lexer.setState(this.braces.at(-1) ? 'inTemplate' : 'main');
  }
}

function nameOf(raw: string): string {
  if (!raw.includes('\\')) return raw;
  return raw.replace(/\\u(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{4}))/g, (_, braced, plain) => {
    const code = Number.parseInt(braced ?? plain, 16);
    return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
  });
}
