// What is in brackets: parentheses, arguments, arrays and objects.

import type * as ast from './ast.js';
import {
  type CoverArray,
  type CoverExpression,
  type CoverKey,
  type CoverObject,
  type CoverProperty,
  type Item,
  itemsOf,
  type Parens,
} from './cover.js';
import { endOf, propertyStart, startOf } from './extent.js';
import type { Refinement } from './refine.js';
import { expression } from './refine-expression.js';
import { identifier, literal } from './refine-literal.js';
import { parameters } from './refine-pattern.js';
import { functionBody } from './refine-statement.js';

export function parenthesised(r: Refinement, parens: Parens): ast.Expression {
  const items = itemsOf(parens.items);
  if (items.length === 0) r.report('FLOW_EMPTY_PARENS', parens.open.start, parens.close.end);
  if (parens.comma) r.report('FLOW_PARENS_COMMA', parens.comma.start, parens.comma.end);
  const inner: ast.Expression[] = r.deeper(1, parens.open.start, () =>
    items.map((item) => {
      if (item.type !== 'spread') return expression(r, item);
      r.report('FLOW_SPREAD', item.dots.start, item.dots.end);
      return expression(r, item.argument);
    }),
  );
  if (inner.length === 1) return inner[0];
  if (inner.length === 0) return { type: 'Literal', start: parens.open.start, end: parens.close.end, value: null, raw: '' };
  return { type: 'SequenceExpression', start: startOf(items[0]), end: endOf(items[items.length - 1]), expressions: inner };
}

export function sequence(r: Refinement, cover: CoverExpression): ast.SequenceExpression {
  const parts: CoverExpression[] = [];
  let at = cover;
  for (; at.type === 'sequence'; at = at.left) parts.push(at.right);
  parts.push(at);
  parts.reverse();
  return r.deeper(1, startOf(at), () => ({
    type: 'SequenceExpression',
    start: startOf(at),
    end: endOf(cover),
    expressions: parts.map((part) => expression(r, part)),
  }));
}

function listed(r: Refinement, item: Item): ast.Expression | ast.SpreadElement {
  if (item.type !== 'spread') return expression(r, item);
  return { type: 'SpreadElement', start: item.dots.start, end: endOf(item), argument: expression(r, item.argument) };
}

export function args(r: Refinement, parens: Parens): (ast.Expression | ast.SpreadElement)[] {
  return r.deeper(1, parens.open.start, () => itemsOf(parens.items).map((item) => listed(r, item)));
}

export function arrayLiteral(r: Refinement, { open, items, close }: CoverArray): ast.ArrayExpression {
  const elements = r.deeper(1, open.start, () => withHoles(itemsOf(items)).map((item) => item && listed(r, item)));
  return { type: 'ArrayExpression', start: open.start, end: close.end, elements };
}

/** The elements of an array from its items and commas; a comma with no item before it is a hole. */
export function withHoles(items: Item[]): (Item | null)[] {
  const elements: (Item | null)[] = [];
  let pending = true;
  for (const item of items) {
    if (item.type === ',') {
      if (pending) elements.push(null);
      pending = true;
    } else {
      elements.push(item);
      pending = false;
    }
  }
  return elements;
}

export function objectLiteral(r: Refinement, { open, properties, close }: CoverObject): ast.ObjectExpression {
  const list = r.deeper(1, open.start, () => itemsOf(properties).map((item) => property(r, item)));
  return { type: 'ObjectExpression', start: open.start, end: close.end, properties: list };
}

function property(r: Refinement, cover: CoverProperty): ast.Property | ast.SpreadElement {
  const start = propertyStart(cover);
  switch (cover.type) {
    case 'spread':
      return { type: 'SpreadElement', start, end: endOf(cover), argument: expression(r, cover.argument) };
    case 'shorthand': {
      const key = identifier(r, cover.name);
      if (cover.equals) r.report('FLOW_SHORTHAND_DEFAULT', cover.equals.start, cover.equals.end, { name: key.name });
      return { type: 'Property', start, end: key.end, method: false, shorthand: true, computed: false, key, value: key, kind: 'init' };
    }
    case 'pair': {
      const { key, computed } = propertyKey(r, cover.key);
      const value = expression(r, cover.value);
      return { type: 'Property', start, end: endOf(cover.value), method: false, shorthand: false, computed, key, value, kind: 'init' };
    }
    case 'method': {
      const { key, computed } = propertyKey(r, cover.key);
      const end = cover.body.close.end;
      const value: ast.FunctionExpression = {
        ...{ type: 'FunctionExpression', start: cover.params.open.start, end, id: null, expression: false, generator: false },
        ...{ async: cover.async !== null, params: parameters(r, cover.params), body: functionBody(r, cover.body) },
      };
      return { type: 'Property', start, end, method: true, shorthand: false, computed, key, value, kind: 'init' };
    }
  }
}

export function propertyKey(r: Refinement, key: CoverKey): { key: ast.Expression; computed: boolean } {
  if (key.type === 'computedKey') return { key: expression(r, key.expression), computed: true };
  return { key: key.kind === 'word' ? identifier(r, key) : literal(r, key), computed: false };
}
