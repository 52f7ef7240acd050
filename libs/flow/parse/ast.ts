// The syntax tree of a flow: ESTree as acorn prints it (ES2024 module), plus the `workflow(ctx, inputs) { … }` entry.
// The nodes of refused constructs are here too, so that the checker can report them; none of them reaches the compiler.

/** Half-open range of offsets (UTF-16 units) in the source text. */
export interface Span {
  start: number;
  end: number;
}

export interface Program extends Span {
  type: 'Program';
  sourceType: 'module';
  body: (Statement | WorkflowEntry)[];
}

/** `workflow(ctx, inputs) { … }` at the top level: an async function that is called for you. */
export interface WorkflowEntry extends Span {
  type: 'WorkflowEntry';
  params: Pattern[];
  body: BlockStatement;
}

// Statements

export type Statement =
  | BlockStatement
  | BreakStatement
  | ContinueStatement
  | DoWhileStatement
  | EmptyStatement
  | ExpressionStatement
  | ForInStatement
  | ForOfStatement
  | ForStatement
  | FunctionDeclaration
  | IfStatement
  | LabeledStatement
  | ReturnStatement
  | SwitchStatement
  | ThrowStatement
  | TryStatement
  | VariableDeclaration
  | WhileStatement;

export interface BlockStatement extends Span {
  type: 'BlockStatement';
  body: Statement[];
}

export interface BreakStatement extends Span {
  type: 'BreakStatement';
  label: Identifier | null;
}

export interface ContinueStatement extends Span {
  type: 'ContinueStatement';
  label: Identifier | null;
}

export interface DoWhileStatement extends Span {
  type: 'DoWhileStatement';
  body: Statement;
  test: Expression;
}

export interface EmptyStatement extends Span {
  type: 'EmptyStatement';
}

export interface ExpressionStatement extends Span {
  type: 'ExpressionStatement';
  expression: Expression;
  /** Present on the leading string statements of a program or function body: their raw text. */
  directive?: string;
}

export interface ForInStatement extends Span {
  type: 'ForInStatement';
  left: VariableDeclaration | Pattern;
  right: Expression;
  body: Statement;
}

export interface ForOfStatement extends Span {
  type: 'ForOfStatement';
  await: false;
  left: VariableDeclaration | Pattern;
  right: Expression;
  body: Statement;
}

export interface ForStatement extends Span {
  type: 'ForStatement';
  init: VariableDeclaration | Expression | null;
  test: Expression | null;
  update: Expression | null;
  body: Statement;
}

export interface FunctionDeclaration extends Span {
  type: 'FunctionDeclaration';
  id: Identifier;
  expression: false;
  generator: false;
  async: boolean;
  params: Pattern[];
  body: BlockStatement;
}

export interface IfStatement extends Span {
  type: 'IfStatement';
  test: Expression;
  consequent: Statement;
  alternate: Statement | null;
}

export interface LabeledStatement extends Span {
  type: 'LabeledStatement';
  label: Identifier;
  body: Statement;
}

export interface ReturnStatement extends Span {
  type: 'ReturnStatement';
  argument: Expression | null;
}

export interface SwitchStatement extends Span {
  type: 'SwitchStatement';
  discriminant: Expression;
  cases: SwitchCase[];
}

export interface SwitchCase extends Span {
  type: 'SwitchCase';
  /** `null` for `default`. */
  test: Expression | null;
  consequent: Statement[];
}

export interface ThrowStatement extends Span {
  type: 'ThrowStatement';
  argument: Expression;
}

export interface TryStatement extends Span {
  type: 'TryStatement';
  block: BlockStatement;
  handler: CatchClause | null;
  finalizer: BlockStatement | null;
}

export interface CatchClause extends Span {
  type: 'CatchClause';
  param: Pattern | null;
  body: BlockStatement;
}

export interface VariableDeclaration extends Span {
  type: 'VariableDeclaration';
  declarations: VariableDeclarator[];
  /** `var` is refused by the checker. */
  kind: 'let' | 'const' | 'var';
}

export interface VariableDeclarator extends Span {
  type: 'VariableDeclarator';
  id: Pattern;
  init: Expression | null;
}

export interface WhileStatement extends Span {
  type: 'WhileStatement';
  test: Expression;
  body: Statement;
}

// Patterns

/** What may be bound or assigned to; `MemberExpression` only in assignments and `for` heads. */
export type Pattern = Identifier | MemberExpression | ArrayPattern | ObjectPattern | AssignmentPattern | RestElement;

export interface ArrayPattern extends Span {
  type: 'ArrayPattern';
  elements: (Pattern | null)[];
}

export interface ObjectPattern extends Span {
  type: 'ObjectPattern';
  properties: (AssignmentProperty | RestElement)[];
}

export interface AssignmentProperty extends Span {
  type: 'Property';
  method: false;
  shorthand: boolean;
  computed: boolean;
  key: Expression;
  value: Pattern;
  kind: 'init';
}

export interface AssignmentPattern extends Span {
  type: 'AssignmentPattern';
  left: Pattern;
  right: Expression;
}

export interface RestElement extends Span {
  type: 'RestElement';
  argument: Pattern;
}

// Expressions

export type Expression =
  | ArrayExpression
  | ArrowFunctionExpression
  | AssignmentExpression
  | AwaitExpression
  | BinaryExpression
  | CallExpression
  | ChainExpression
  | ConditionalExpression
  | FunctionExpression
  | Identifier
  | Literal
  | LogicalExpression
  | MemberExpression
  | MetaProperty
  | NewExpression
  | ObjectExpression
  | SequenceExpression
  | TaggedTemplateExpression
  | TemplateLiteral
  | ThisExpression
  | UnaryExpression
  | UpdateExpression;

export interface ArrayExpression extends Span {
  type: 'ArrayExpression';
  /** `null` is a hole. */
  elements: (Expression | SpreadElement | null)[];
}

export interface ArrowFunctionExpression extends Span {
  type: 'ArrowFunctionExpression';
  id: null;
  /** The body is an expression, not a block. */
  expression: boolean;
  generator: false;
  async: boolean;
  params: Pattern[];
  body: BlockStatement | Expression;
}

export type AssignmentOperator =
  | '='
  | '+='
  | '-='
  | '*='
  | '/='
  | '%='
  | '**='
  | '<<='
  | '>>='
  | '>>>='
  | '&='
  | '|='
  | '^='
  | '&&='
  | '||='
  | '??=';

export interface AssignmentExpression extends Span {
  type: 'AssignmentExpression';
  operator: AssignmentOperator;
  left: Pattern;
  right: Expression;
}

export interface AwaitExpression extends Span {
  type: 'AwaitExpression';
  argument: Expression;
}

export type BinaryOperator =
  | '=='
  | '!='
  | '==='
  | '!=='
  | '<'
  | '<='
  | '>'
  | '>='
  | '<<'
  | '>>'
  | '>>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | '**'
  | '|'
  | '^'
  | '&'
  | 'in'
  | 'instanceof';

export interface BinaryExpression extends Span {
  type: 'BinaryExpression';
  operator: BinaryOperator;
  left: Expression;
  right: Expression;
}

export interface CallExpression extends Span {
  type: 'CallExpression';
  callee: Expression;
  arguments: (Expression | SpreadElement)[];
  optional: boolean;
}

/** The whole of an optional chain: `a?.b.c(d)` short-circuits to the end of this node. */
export interface ChainExpression extends Span {
  type: 'ChainExpression';
  expression: MemberExpression | CallExpression;
}

export interface ConditionalExpression extends Span {
  type: 'ConditionalExpression';
  test: Expression;
  consequent: Expression;
  alternate: Expression;
}

export interface FunctionExpression extends Span {
  type: 'FunctionExpression';
  id: Identifier | null;
  expression: false;
  generator: false;
  async: boolean;
  params: Pattern[];
  body: BlockStatement;
}

export interface Identifier extends Span {
  type: 'Identifier';
  name: string;
}

export interface Literal extends Span {
  type: 'Literal';
  value: string | number | boolean | null | bigint | RegExp;
  raw: string;
  /** Refused by the checker. */
  bigint?: string;
  /** Refused by the checker. */
  regex?: { pattern: string; flags: string };
}

export interface LogicalExpression extends Span {
  type: 'LogicalExpression';
  operator: '&&' | '||' | '??';
  left: Expression;
  right: Expression;
}

export interface MemberExpression extends Span {
  type: 'MemberExpression';
  object: Expression;
  property: Expression;
  computed: boolean;
  optional: boolean;
}

/** `new.target`, `import.meta`: refused by the checker. */
export interface MetaProperty extends Span {
  type: 'MetaProperty';
  meta: Identifier;
  property: Identifier;
}

export interface NewExpression extends Span {
  type: 'NewExpression';
  callee: Expression;
  arguments: (Expression | SpreadElement)[];
}

export interface ObjectExpression extends Span {
  type: 'ObjectExpression';
  properties: (Property | SpreadElement)[];
}

export interface Property extends Span {
  type: 'Property';
  method: boolean;
  shorthand: boolean;
  computed: boolean;
  key: Expression;
  value: Expression;
  kind: 'init';
}

export interface SequenceExpression extends Span {
  type: 'SequenceExpression';
  expressions: Expression[];
}

export interface SpreadElement extends Span {
  type: 'SpreadElement';
  argument: Expression;
}

/** Refused by the checker. */
export interface TaggedTemplateExpression extends Span {
  type: 'TaggedTemplateExpression';
  tag: Expression;
  quasi: TemplateLiteral;
}

export interface TemplateLiteral extends Span {
  type: 'TemplateLiteral';
  expressions: Expression[];
  quasis: TemplateElement[];
}

export interface TemplateElement extends Span {
  type: 'TemplateElement';
  value: { raw: string; cooked: string };
  tail: boolean;
}

/** Refused by the checker. */
export interface ThisExpression extends Span {
  type: 'ThisExpression';
}

export interface UnaryExpression extends Span {
  type: 'UnaryExpression';
  operator: '-' | '+' | '!' | '~' | 'typeof' | 'void' | 'delete';
  prefix: true;
  argument: Expression;
}

export interface UpdateExpression extends Span {
  type: 'UpdateExpression';
  operator: '++' | '--';
  prefix: boolean;
  argument: Identifier | MemberExpression;
}

/** Anything that has parameters and a body. */
export type FunctionNode = FunctionDeclaration | FunctionExpression | ArrowFunctionExpression | WorkflowEntry;

/** Any node of the tree. */
export type Node =
  | Program
  | WorkflowEntry
  | Statement
  | SwitchCase
  | CatchClause
  | VariableDeclarator
  | Pattern
  | AssignmentProperty
  | Expression
  | Property
  | SpreadElement
  | TemplateElement;
