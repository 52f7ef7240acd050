// Operators: precedence, and prefixes and postfixes of an operand.

import type * as ast from './ast.js';
import { type Binary, type CoverExpression, itemsOf, type Operand } from './cover.js';
import { endOf, startOf } from './extent.js';
import type { Refinement } from './refine.js';
import { expression } from './refine-expression.js';
import { simpleTarget } from './refine-pattern.js';
import type { Token } from './token.js';

const PRECEDENCE: Record<string, number> = {
  ...{ '??': 1, '||': 1, '&&': 2, '|': 3, '^': 4, '&': 5, '==': 6, '!=': 6, '===': 6, '!==': 6 },
  ...{
    '<': 7,
    '>': 7,
    '<=': 7,
    '>=': 7,
    in: 7,
    instanceof: 7,
    '<<': 8,
    '>>': 8,
    '>>>': 8,
    '+': 9,
    '-': 9,
    '*': 10,
    '/': 10,
    '%': 10,
    '**': 11,
  },
};

type Extent = { node: ast.Expression; start: number; end: number };

export function binary(r: Refinement, cover: Binary): ast.Expression {
  const steps: Binary[] = [];
  let at: CoverExpression = cover;
  for (; at.type === 'binary'; at = at.left) steps.push(at);
  steps.reverse();
  checkMixing(r, steps);
  const first = at;
  return r.deeper(steps.length, startOf(first), () => {
    const values: Extent[] = [extent(r, first)];
    const operators: Token[] = [];
    let previous: CoverExpression = first;
    for (const { operator, right } of steps) {
      if (operator.raw === '**' && hasUnary(previous)) r.report('FLOW_POWER', startOf(previous), operator.end);
      while (operators.length > 0 && bindsFirst(operators[operators.length - 1].raw, operator.raw)) join(values, operators);
      operators.push(operator);
      values.push(extent(r, right));
      previous = right;
    }
    while (operators.length > 0) join(values, operators);
    return values[0].node;
  });
}

function extent(r: Refinement, cover: CoverExpression): Extent {
  return { node: expression(r, cover), start: startOf(cover), end: endOf(cover) };
}

function bindsFirst(left: string, right: string): boolean {
  return right === '**' ? PRECEDENCE[left] > PRECEDENCE[right] : PRECEDENCE[left] >= PRECEDENCE[right];
}

function join(values: Extent[], operators: Token[]): void {
  const { raw } = operators.pop() as Token;
  const right = values.pop() as Extent;
  const left = values.pop() as Extent;
  const parts = { start: left.start, end: right.end, left: left.node, right: right.node };
  const node: ast.Expression =
    raw === '&&' || raw === '||' || raw === '??'
      ? { type: 'LogicalExpression', operator: raw, ...parts }
      : { type: 'BinaryExpression', operator: raw as ast.BinaryOperator, ...parts };
  values.push({ node, start: left.start, end: right.end });
}

/** All operators of one flat list meet in the tree, so `??` next to `||` or `&&` is always the forbidden mix. */
function checkMixing(r: Refinement, steps: Binary[]): void {
  const nullish = steps.find(({ operator }) => operator.raw === '??');
  const logical = steps.find(({ operator }) => operator.raw === '||' || operator.raw === '&&');
  if (!nullish || !logical) return;
  const later = nullish.operator.start > logical.operator.start ? nullish.operator : logical.operator;
  r.report('FLOW_NULLISH_MIX', later.start, later.end);
}

function hasUnary(cover: CoverExpression): boolean {
  return cover.type === 'operand' && itemsOf(cover.prefixes).some(({ raw }) => raw !== '++' && raw !== '--');
}

export function operand(r: Refinement, { prefixes, chain: inner, postfix }: Operand): ast.Expression {
  const signs = itemsOf(prefixes);
  return r.deeper(signs.length + 1, startOf(inner), () => {
    const last = signs[signs.length - 1];
    const end = postfix ? postfix.end : endOf(inner);
    const updates = last && !postfix && (last.raw === '++' || last.raw === '--');
    let node: ast.Expression;
    if (postfix) {
      const argument = simpleTarget(r, inner);
      node = { type: 'UpdateExpression', start: startOf(inner), end, operator: postfix.raw as '++', prefix: false, argument };
    } else if (updates) {
      const argument = simpleTarget(r, inner);
      node = { type: 'UpdateExpression', start: last.start, end, operator: last.raw as '++', prefix: true, argument };
    } else node = expression(r, inner);
    for (let i = signs.length - (updates ? 2 : 1); i >= 0; i--) node = prefixed(r, signs[i], node, end);
    return node;
  });
}

function prefixed(r: Refinement, { raw, start, end: signEnd }: Token, argument: ast.Expression, end: number): ast.Expression {
  if (raw === 'await') return { type: 'AwaitExpression', start, end, argument };
  if (raw === '++' || raw === '--')
    r.report('FLOW_TARGET', start, signEnd, { reason: `${raw} changes a variable or property, not a value` });
  return { type: 'UnaryExpression', start, end, operator: raw as '-', prefix: true, argument };
}
