// Expressions: dispatches each to its refiner; functions, and what nests to the right (assignment, condition, arrow).

import type * as ast from './ast.js';
import { type ArrowStart, type AssignHead, type Call, type CoverExpression, type CoverFunction, itemsOf } from './cover.js';
import { endOf, startOf } from './extent.js';
import type { Refinement } from './refine.js';
import { arrayLiteral, objectLiteral, parenthesised, sequence } from './refine-bracket.js';
import { chain } from './refine-chain.js';
import { identifier, literal, template } from './refine-literal.js';
import { binary, operand } from './refine-operator.js';
import { assignmentTarget, parameters, simpleTarget } from './refine-pattern.js';
import { functionBody } from './refine-statement.js';

export function expression(r: Refinement, cover: CoverExpression): ast.Expression {
  switch (cover.type) {
    case 'assign':
      return foldHeads(r, itemsOf(cover.heads), cover.tail);
    case 'arrowBlock':
      return arrow(r, cover.head, endOf(cover), () => ({ body: functionBody(r, cover.block), expression: false }));
    case 'sequence':
      return sequence(r, cover);
    case 'binary':
      return binary(r, cover);
    case 'operand':
      return operand(r, cover);
    case 'created':
    case 'member':
    case 'index':
    case 'call':
      return chain(r, cover);
    case 'template':
      return template(r, cover);
    case 'parens':
      return parenthesised(r, cover);
    case 'array':
      return arrayLiteral(r, cover);
    case 'object':
      return objectLiteral(r, cover);
    case 'function':
      return functionExpression(r, cover);
    case 'atom':
      return literal(r, cover);
    default:
      return identifier(r, cover);
  }
}

// Functions

function functionExpression(r: Refinement, cover: CoverFunction): ast.FunctionExpression {
  const head = {
    type: 'FunctionExpression',
    start: startOf(cover),
    end: endOf(cover),
    id: cover.name && identifier(r, cover.name),
  } as const;
  const form = { expression: false, generator: false, async: cover.keyword.asyncStart >= 0 } as const;
  return r.deeper(1, head.start, () => ({ ...head, ...form, params: parameters(r, cover.params), body: functionBody(r, cover.body) }));
}

type ArrowBody = { body: ast.BlockStatement | ast.Expression; expression: boolean };

function arrow(r: Refinement, { params, arrow: sign }: ArrowStart, end: number, build: () => ArrowBody): ast.ArrowFunctionExpression {
  const start = startOf(params);
  let list: ast.Pattern[] = [];
  let async = false;
  if (params.type === 'asyncName' || params.type === 'name' || params.type === 'workflow') {
    async = params.type === 'asyncName';
    list = [identifier(r, params)];
  } else if (params.type === 'parens') list = parameters(r, params);
  else if (params.type === 'call' && isAsync(params)) {
    async = true;
    list = parameters(r, params.args);
  } else r.report('FLOW_ARROW', start, sign.end, { reason: '=> must follow a name or parameters in parentheses' });
  return r.deeper(1, start, () => ({
    type: 'ArrowFunctionExpression',
    start,
    end,
    id: null,
    generator: false,
    async,
    params: list,
    ...build(),
  }));
}

/** `async (a, b)` before an arrow, which looks like a call until the arrow comes. */
function isAsync({ object, optional, args: parens }: Call): boolean {
  return object.type === 'name' && object.raw === 'async' && !optional && !parens.open.newline;
}

// Assignment, condition, arrow: a list of heads before the last operand

/** `a = b ? c : d => e` is the heads `a =`, `b ? c :`, `d =>` and the tail `e`; they nest to the right. */
export function foldHeads(r: Refinement, heads: AssignHead[], tail: CoverExpression): ast.Expression {
  const end = endOf(tail);
  return r.deeper(heads.length, startOf(tail), () => {
    let right = expression(r, tail);
    for (let i = heads.length; i--; ) right = foldHead(r, heads[i], right, end);
    return right;
  });
}

function foldHead(r: Refinement, head: AssignHead, right: ast.Expression, end: number): ast.Expression {
  switch (head.type) {
    case 'arrowStart':
      return arrow(r, head, end, () => ({ body: right, expression: true }));
    case 'conditionHead': {
      const test = expression(r, head.test);
      const consequent = expression(r, head.consequent);
      return { type: 'ConditionalExpression', start: startOf(head.test), end, test, consequent, alternate: right };
    }
    case 'assignHead': {
      const operator = head.operator.raw as ast.AssignmentOperator;
      const left = operator === '=' ? assignmentTarget(r, head.target) : simpleTarget(r, head.target);
      return { type: 'AssignmentExpression', start: startOf(head.target), end, operator, left, right };
    }
  }
}
