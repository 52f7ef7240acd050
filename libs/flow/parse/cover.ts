// What the grammar's rules build: cover nodes, cheap and immutable, that the refiner turns into the syntax tree.
// A rule's result may be built for a parse that fails at the next token, so everything here is a constant amount of work.

import type { Token } from './token.js';

/** A list that grows at its end without being copied. */
export interface List<T> {
  prev: List<T> | null;
  item: T;
}

/** The items of a list, first to last. */
export function itemsOf<T>(list: List<T> | null): T[] {
  const items: T[] = [];
  for (let at = list; at; at = at.prev) items.push(at.item);
  return items.reverse();
}

export type CoverExpression =
  | Token
  | Assign
  | ArrowBlock
  | Binary
  | Operand
  | Created
  | Member
  | Index
  | Call
  | Sequence
  | Template
  | Parens
  | CoverArray
  | CoverObject
  | CoverFunction;

export type Assign = { type: 'assign'; heads: List<AssignHead>; tail: CoverExpression };
export type AssignHead =
  | { type: 'assignHead'; target: CoverExpression; operator: Token }
  | { type: 'conditionHead'; test: CoverExpression; consequent: CoverExpression }
  | ArrowStart;
export type ArrowStart = { type: 'arrowStart'; params: CoverExpression; arrow: Token };
export type ArrowBlock = { type: 'arrowBlock'; head: ArrowStart; block: Block };
export type Binary = { type: 'binary'; left: CoverExpression; operator: Token; right: CoverExpression };
export type Operand = { type: 'operand'; prefixes: List<Token> | null; chain: CoverExpression; postfix: Token | null };
export type Created = { type: 'created'; news: List<Token>; primary: CoverExpression };
export type Member = { type: 'member'; object: CoverExpression; dot: Token; name: Token };
export type Index = { type: 'index'; object: CoverExpression; optional: boolean; index: CoverExpression; close: Token };
export type Call = { type: 'call'; object: CoverExpression; optional: boolean; args: Parens };
export type Sequence = { type: 'sequence'; left: CoverExpression; right: CoverExpression };
export type TemplatePart = { text: Token; expression: CoverExpression };
export type Template = { type: 'template'; parts: List<TemplatePart>; tail: Token };
export type Spread = { type: 'spread'; dots: Token; argument: CoverExpression };
export type Item = CoverExpression | Spread;
export type Parens = { type: 'parens'; open: Token; items: List<Item> | null; comma: Token | null; close: Token };
export type CoverArray = { type: 'array'; open: Token; items: List<Item> | null; close: Token };
export type CoverObject = { type: 'object'; open: Token; properties: List<CoverProperty> | null; comma: Token | null; close: Token };
export type CoverKey = Token | { type: 'computedKey'; open: Token; expression: CoverExpression; close: Token };
export type CoverProperty =
  | { type: 'shorthand'; name: Token; equals: Token | null; value: CoverExpression | null }
  | { type: 'pair'; key: CoverKey; value: CoverExpression }
  | { type: 'method'; async: Token | null; key: CoverKey; params: Parens; body: Block }
  | Spread;
export type CoverFunction = { type: 'function'; keyword: Token; name: Token | null; params: Parens; body: Block };

export type CoverStatement =
  | Token
  | Nested
  | Block
  | CoverFunction
  | { type: 'expressionStatement'; expression: CoverExpression; semi: Token }
  | { type: 'declarationStatement'; declaration: Declaration; semi: Token }
  | { type: 'jumpStatement'; keyword: Token; argument: CoverExpression | null; semi: Token }
  | { type: 'tryStatement'; keyword: Token; block: Block; handler: Catch | null; finalizer: Block | null }
  | { type: 'switchStatement'; keyword: Token; discriminant: CoverExpression; cases: List<Case> | null; close: Token }
  | { type: 'doStatement'; keyword: Token; body: CoverStatement; while: Token; test: CoverExpression; semi: Token }
  | { type: 'entry'; keyword: Token; params: Parens; body: Block };

/** `if (a) while (b) leaf`, or the same after an `else`; the refiner decides which `if` an `else` belongs to. */
export type Nested = { type: 'nested'; before: CoverStatement | null; else: Token | null; heads: List<Head> | null; leaf: CoverStatement };
export type Head =
  | { type: 'testHead'; keyword: Token; test: CoverExpression }
  | {
      type: 'forHead';
      keyword: Token;
      init: CoverExpression | Declaration | null;
      test: CoverExpression | null;
      update: CoverExpression | null;
    }
  | { type: 'forEachHead'; keyword: Token; left: CoverExpression | ForBinding; of: Token; right: CoverExpression }
  | { type: 'labelHead'; name: Token };
export type ForBinding = { type: 'forBinding'; keyword: Token; target: CoverExpression };
export type Block = { type: 'block'; open: Token; body: List<CoverStatement> | null; close: Token };
export type Catch = { keyword: Token; param: CoverExpression | null; body: Block };
export type Case = { keyword: Token; test: CoverExpression | null; colon: Token; body: List<CoverStatement> | null };
export type Declaration = { type: 'declaration'; keyword: Token; declarators: List<Declarator> };
export type Declarator = { target: CoverExpression; init: CoverExpression | null };

// The rules pass their matched parts by position; the grammar file is what gives each position its type.
// biome-ignore lint/suspicious/noExplicitAny: see above.
type Parts = any[];

export const emptyProgram = (): null => null;
export const nothing = (): null => null;
export const second = (d: Parts) => d[1];
export const one = (d: Parts): List<unknown> => ({ prev: null, item: d[0] });
export const more = (d: Parts): List<unknown> => ({ prev: d[0], item: d[1] });
export const moreAfterComma = (d: Parts): List<unknown> => ({ prev: d[0], item: d[2] });

export const headed = (d: Parts): Nested => ({ type: 'nested', before: null, else: null, heads: d[0], leaf: d[1] });
export const elseLeaf = (d: Parts): Nested => ({ type: 'nested', before: d[0], else: d[1], heads: null, leaf: d[2] });
export const elseHeaded = (d: Parts): Nested => ({ type: 'nested', before: d[0], else: d[1], heads: d[2], leaf: d[3] });
export const testHead = (d: Parts): Head => ({ type: 'testHead', keyword: d[0], test: d[2] });
export const forHead = (d: Parts): Head => ({ type: 'forHead', keyword: d[0], init: d[2], test: d[3], update: d[4] });
export const forEachHead = (d: Parts): Head => ({ type: 'forEachHead', keyword: d[0], left: d[2], of: d[3], right: d[4] });
export const labelHead = (d: Parts): Head => ({ type: 'labelHead', name: d[0] });
export const forBinding = (d: Parts): ForBinding => ({ type: 'forBinding', keyword: d[0], target: d[1] });

export const expressionStatement = (d: Parts): CoverStatement => ({ type: 'expressionStatement', expression: d[0], semi: d[1] });
export const declarationStatement = (d: Parts): CoverStatement => ({ type: 'declarationStatement', declaration: d[0], semi: d[1] });
export const jump = (d: Parts): CoverStatement => ({ type: 'jumpStatement', keyword: d[0], argument: null, semi: d[1] });
export const jumpWith = (d: Parts): CoverStatement => ({ type: 'jumpStatement', keyword: d[0], argument: d[1], semi: d[2] });
export const tryStatement = (d: Parts): CoverStatement => ({
  type: 'tryStatement',
  keyword: d[0],
  block: d[1],
  handler: d[2],
  finalizer: d[3] ?? null,
});
export const tryFinally = (d: Parts): CoverStatement => ({
  type: 'tryStatement',
  keyword: d[0],
  block: d[1],
  handler: null,
  finalizer: d[2],
});
export const emptySwitch = (d: Parts): CoverStatement => ({
  type: 'switchStatement',
  keyword: d[0],
  discriminant: d[2],
  cases: null,
  close: d[5],
});
export const switchStatement = (d: Parts): CoverStatement => ({
  type: 'switchStatement',
  keyword: d[0],
  discriminant: d[2],
  cases: d[5],
  close: d[6],
});
export const doStatement = (d: Parts): CoverStatement => ({
  type: 'doStatement',
  keyword: d[0],
  body: d[1],
  while: d[2],
  test: d[4],
  semi: d[6],
});
export const entry = (d: Parts): CoverStatement => ({ type: 'entry', keyword: d[0], params: d[1], body: d[2] });
export const bareCatch = (d: Parts): Catch => ({ keyword: d[0], param: null, body: d[1] });
export const boundCatch = (d: Parts): Catch => ({ keyword: d[0], param: d[2], body: d[4] });
export const caseHead = (d: Parts): Case => ({ keyword: d[0], test: d[1], colon: d[2], body: null });
export const defaultHead = (d: Parts): Case => ({ keyword: d[0], test: null, colon: d[1], body: null });
export const emptyCase = (d: Parts): Case => d[0];
export const fullCase = (d: Parts): Case => ({ ...d[0], body: d[1] });
export const declaration = (d: Parts): Declaration => ({ type: 'declaration', keyword: d[0], declarators: d[1] });
export const declarator = (d: Parts): Declarator => ({ target: d[0], init: d[2] ?? null });

export const sequence = (d: Parts): Sequence => ({ type: 'sequence', left: d[0], right: d[2] });
export const assign = (d: Parts): Assign => ({ type: 'assign', heads: d[0], tail: d[1] });
export const assignHead = (d: Parts): AssignHead => ({ type: 'assignHead', target: d[0], operator: d[1] });
export const conditionHead = (d: Parts): AssignHead => ({ type: 'conditionHead', test: d[0], consequent: d[2] });
export const arrowStart = (d: Parts): ArrowStart => ({ type: 'arrowStart', params: d[0], arrow: d[1] });
export const arrowBlock = (d: Parts): ArrowBlock => ({ type: 'arrowBlock', head: d[0], block: d[1] });
export const binary = (d: Parts): Binary => ({ type: 'binary', left: d[0], operator: d[1], right: d[2] });
export const prefixed = (d: Parts): Operand => ({ type: 'operand', prefixes: d[0], chain: d[1], postfix: d[2] ?? null });
export const postfixed = (d: Parts): Operand => ({ type: 'operand', prefixes: null, chain: d[0], postfix: d[1] });
export const created = (d: Parts): Created => ({ type: 'created', news: d[0], primary: d[1] });
export const member = (d: Parts): Member => ({ type: 'member', object: d[0], dot: d[1], name: d[2] });
export const index = (d: Parts): Index => ({ type: 'index', object: d[0], optional: false, index: d[2], close: d[3] });
export const optionalIndex = (d: Parts): Index => ({ type: 'index', object: d[0], optional: true, index: d[3], close: d[4] });
export const call = (d: Parts): Call => ({ type: 'call', object: d[0], optional: false, args: d[1] });
export const optionalCall = (d: Parts): Call => ({ type: 'call', object: d[0], optional: true, args: d[2] });
export const templateStart = (d: Parts): List<TemplatePart> => ({ prev: null, item: { text: d[0], expression: d[1] } });
export const templateMore = (d: Parts): List<TemplatePart> => ({ prev: d[0], item: { text: d[1], expression: d[2] } });
export const template = (d: Parts): Template => ({ type: 'template', parts: d[0], tail: d[1] });
export const spread = (d: Parts): Spread => ({ type: 'spread', dots: d[0], argument: d[1] });
export const shorthand = (d: Parts): CoverProperty => ({ type: 'shorthand', name: d[0], equals: null, value: null });
export const shorthandDefault = (d: Parts): CoverProperty => ({ type: 'shorthand', name: d[0], equals: d[1], value: d[2] });
export const pair = (d: Parts): CoverProperty => ({ type: 'pair', key: d[0], value: d[2] });
export const method = (d: Parts): CoverProperty => ({ type: 'method', async: null, key: d[0], params: d[1], body: d[2] });
export const asyncMethod = (d: Parts): CoverProperty => ({ type: 'method', async: d[0], key: d[1], params: d[2], body: d[3] });
export const computedKey = (d: Parts): CoverKey => ({ type: 'computedKey', open: d[0], expression: d[1], close: d[2] });
export const anonymousFunction = (d: Parts): CoverFunction => ({ type: 'function', keyword: d[0], name: null, params: d[1], body: d[2] });
export const namedFunction = (d: Parts): CoverFunction => ({ type: 'function', keyword: d[0], name: d[1], params: d[2], body: d[3] });

/** What is between an opening bracket and its closing one, with that one. */
type Inside<T> = { list: List<T> | null; comma: Token | null; close: Token };
export const closed = (d: Parts): Inside<unknown> => ({ list: null, comma: null, close: d[0] });
export const filled = (d: Parts): Inside<unknown> => ({ list: d[0], comma: null, close: d[1] });
export const filledWithComma = (d: Parts): Inside<unknown> => ({ list: d[0], comma: d[1], close: d[2] });
export const parens = (d: Parts): Parens => ({ type: 'parens', open: d[0], items: d[1].list, comma: d[1].comma, close: d[1].close });
export const array = (d: Parts): CoverArray => ({ type: 'array', open: d[0], items: d[1].list, close: d[1].close });
export const object = (d: Parts): CoverObject => ({
  type: 'object',
  open: d[0],
  properties: d[1].list,
  comma: d[1].comma,
  close: d[1].close,
});
export const block = (d: Parts): Block => ({ type: 'block', open: d[0], body: d[1].list, close: d[1].close });
