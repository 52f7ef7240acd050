// A token: the lexer sets its kind, and the feeder the type that the grammar sees.

/** What a token is by its text alone. */
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
  /** Text that is not a token; `name` is the rule of the lexer that matched it. */
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
  /** A name after `async`, as the only parameter of an arrow; `async` before a method's name. */
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
    /** There is a line terminator between this token and the one before it. */
    readonly newline: boolean,
    /** Of a word: its name with the escapes resolved. Of bad text: the rule that matched it. */
    readonly name: string,
  ) {}

  /** The same token with the type that the grammar needs at its place. */
  as(type: TokenType): this {
    this.type = type;
    this.text = type;
    return this;
  }
}
