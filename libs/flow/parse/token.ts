// A token on its way from the lexer, which knows its kind, to the grammar, which is told its type.

/** What the text alone says about a token. */
export type TokenKind =
  | 'word'
  | 'punctuator'
  | 'number'
  | 'string'
  | 'regex'
  | 'tplFull'
  | 'tplHead'
  | 'tplMid'
  | 'tplTail'
  | 'end'
  /** Text that can be no token; `problem` says which. */
  | 'bad';

/** The grammar's names for tokens. */
export type TokenType =
  | '('
  | ')'
  | '['
  | ']'
  | '}'
  | ','
  | ':'
  | '.'
  | '?.'
  | '?'
  | '='
  | '=>'
  | '...'
  | 'if'
  | 'else'
  | 'while'
  | 'for'
  | 'do'
  | 'try'
  | 'catch'
  | 'finally'
  | 'switch'
  | 'case'
  | 'default'
  | 'new'
  /** `{` of a block, `{` of an object. */
  | 'lblock'
  | 'lobj'
  /** `;` that ends a statement, that is one, in a `for` head, after `do … while (…)`. */
  | 'semi'
  | 'empty'
  | 'forSemi'
  | 'doSemi'
  /** `let`, `const`, `var`; `return`, `throw`; `break`, `continue`. */
  | 'declare'
  | 'exit'
  | 'jump'
  | 'of'
  | 'forIn'
  | 'workflow'
  | 'functionDecl'
  | 'functionExpr'
  /** A name that `async` stands before as the one parameter of an arrow; `async` before a method's name. */
  | 'asyncName'
  | 'asyncKey'
  /** A name; the name of a property that cannot be a variable's; any literal. */
  | 'name'
  | 'key'
  | 'atom'
  | 'tplHead'
  | 'tplMid'
  | 'tplTail'
  | 'prefix'
  | 'postfix'
  | 'binop'
  | 'assignOp'
  | 'eof'
  /** Not fed yet. */
  | '';

export class Token {
  /** Chosen by the feeder from the kind and the place. */
  type: TokenType = '';
  /** nearley compares the grammar's literals with this; always equal to `type`. */
  text: TokenType = '';
  /** Where the `async` that was folded into this token begins, or -1. */
  asyncStart = -1;

  constructor(
    readonly kind: TokenKind,
    readonly raw: string,
    readonly start: number,
    readonly end: number,
    /** A line terminator stands between this token and the one before it. */
    readonly newline: boolean,
    /** Of a word: its name with the escapes resolved. Of bad text: the rule that caught it. */
    readonly name: string,
  ) {}

  /** The same token under the type that the grammar wants at its place. */
  as(type: TokenType): this {
    this.type = type;
    this.text = type;
    return this;
  }
}
