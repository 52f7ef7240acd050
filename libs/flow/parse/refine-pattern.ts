// Patterns: what is declared, assigned to or taken as a parameter, converted from the expressions that the grammar found.

import type { RefusalCode } from '../diagnostics/codes.js';
import type * as ast from './ast.js';
import { type CoverArray, type CoverExpression, type CoverObject, type CoverProperty, type Item, itemsOf, type Parens } from './cover.js';
import { endOf, propertyStart, startOf } from './extent.js';
import type { Refinement } from './refine.js';
import { propertyKey, withHoles } from './refine-bracket.js';
import { expression, foldHeads } from './refine-expression.js';
import { identifier } from './refine-literal.js';

/** Bindings make names; assignments may also go to properties and have parentheses around a target. */
type Mode = { binds: boolean; code: RefusalCode };

const BINDING: Mode = { binds: true, code: 'FLOW_BINDING' };
const PARAMETER: Mode = { binds: true, code: 'FLOW_PARAMETER' };
const ASSIGNMENT: Mode = { binds: false, code: 'FLOW_TARGET' };

/** What `let`, `const`, `catch` and `for (const …` introduce. */
export function bindingPattern(r: Refinement, cover: CoverExpression): ast.Pattern {
  return pattern(r, cover, BINDING);
}

/** The left side of `=` and of `for (… of`. */
export function assignmentTarget(r: Refinement, cover: CoverExpression): ast.Pattern {
  return pattern(r, cover, ASSIGNMENT);
}

/** The operand of `++` and the left side of `+=`: a variable or a property, no pattern. */
export function simpleTarget(r: Refinement, cover: CoverExpression): ast.Identifier | ast.MemberExpression {
  const target = pattern(r, cover, ASSIGNMENT);
  if (target.type === 'Identifier' || target.type === 'MemberExpression') return target;
  return refuse(r, cover, ASSIGNMENT, 'a pattern works only with =');
}

/** The parameters of a function, in the order written. */
export function parameters(r: Refinement, parens: Parens): ast.Pattern[] {
  return r.deeper(1, parens.open.start, () => elements(r, itemsOf(parens.items), PARAMETER, parens.comma !== null) as ast.Pattern[]);
}

function pattern(r: Refinement, cover: CoverExpression, mode: Mode): ast.Pattern {
  switch (cover.type) {
    case 'name':
    case 'workflow':
      return identifier(r, cover);
    case 'array':
      return r.deeper(1, cover.open.start, () => arrayPattern(r, cover, mode));
    case 'object':
      return r.deeper(1, cover.open.start, () => objectPattern(r, cover, mode));
    case 'member':
    case 'index':
      if (mode.binds) return refuse(r, cover, mode, 'a property cannot be declared');
      return property(r, cover);
    case 'parens':
      return parenthesised(r, cover, mode);
    case 'call':
      return refuse(r, cover, mode, 'it is the result of a call');
    default:
      return refuse(r, cover, mode, 'it is a value');
  }
}

function property(r: Refinement, cover: CoverExpression): ast.Pattern {
  const node = expression(r, cover);
  if (node.type === 'MemberExpression') return node;
  return refuse(r, cover, ASSIGNMENT, 'an optional chain may have no target');
}

/** Parentheses are allowed around a variable or property, never around a pattern or a binding. */
function parenthesised(r: Refinement, cover: Parens, mode: Mode): ast.Pattern {
  const [only, ...others] = itemsOf(cover.items);
  if (!mode.binds && only && others.length === 0 && !cover.comma && ['name', 'workflow', 'member', 'index', 'parens'].includes(only.type)) {
    return r.deeper(1, cover.open.start, () => pattern(r, only as CoverExpression, mode));
  }
  return refuse(r, cover, mode, 'only a variable or property can be in parentheses');
}

function refuse(r: Refinement, cover: Item, mode: Mode, reason: string): ast.Identifier {
  const start = startOf(cover);
  const end = endOf(cover);
  r.report(mode.code, start, end, { reason });
  return { type: 'Identifier', start, end, name: '' };
}

/** An element of a pattern or a parameter, which may have a default. */
function withDefault(r: Refinement, cover: CoverExpression, mode: Mode): ast.Pattern {
  if (cover.type !== 'assign') return pattern(r, cover, mode);
  const heads = itemsOf(cover.heads);
  const [first] = heads;
  if (first.type !== 'assignHead' || first.operator.raw !== '=') return refuse(r, cover, mode, 'it is a value');
  const left = pattern(r, first.target, mode);
  return { type: 'AssignmentPattern', start: startOf(cover), end: endOf(cover), left, right: foldHeads(r, heads.slice(1), cover.tail) };
}

function elements(r: Refinement, items: (Item | null)[], mode: Mode, commaAtEnd: boolean): (ast.Pattern | null)[] {
  return items.map((item, i) => {
    if (!item) return null;
    if (item.type !== 'spread') return withDefault(r, item, mode);
    if (i < items.length - 1)
      r.report('FLOW_REST', item.dots.start, endOf(item), { reason: 'a rest element takes all that is left, so it must be the last' });
    else if (commaAtEnd) r.report('FLOW_REST', item.dots.start, endOf(item), { reason: 'no comma can follow a rest element' });
    return { type: 'RestElement', start: item.dots.start, end: endOf(item), argument: pattern(r, item.argument, mode) };
  });
}

function arrayPattern(r: Refinement, { open, items, close }: CoverArray, mode: Mode): ast.ArrayPattern {
  const list = itemsOf(items);
  const comma = list[list.length - 1]?.type === ',';
  return { type: 'ArrayPattern', start: open.start, end: close.end, elements: elements(r, withHoles(list), mode, comma) };
}

function objectPattern(r: Refinement, { open, properties, comma, close }: CoverObject, mode: Mode): ast.ObjectPattern {
  const list = itemsOf(properties);
  const refined = list.map((item, i) => propertyPattern(r, item, mode, i < list.length - 1 || comma !== null));
  return { type: 'ObjectPattern', start: open.start, end: close.end, properties: refined };
}

function propertyPattern(r: Refinement, cover: CoverProperty, mode: Mode, followed: boolean): ast.AssignmentProperty | ast.RestElement {
  const start = propertyStart(cover);
  const form = { type: 'Property', start, method: false, kind: 'init' } as const;
  switch (cover.type) {
    case 'shorthand': {
      const key = identifier(r, cover.name);
      if (!cover.value) return { ...form, end: key.end, shorthand: true, computed: false, key, value: key };
      const end = endOf(cover.value);
      const value: ast.AssignmentPattern = { type: 'AssignmentPattern', start, end, left: key, right: expression(r, cover.value) };
      return { ...form, end, shorthand: true, computed: false, key, value };
    }
    case 'pair': {
      const { key, computed } = propertyKey(r, cover.key);
      return { ...form, end: endOf(cover.value), shorthand: false, computed, key, value: withDefault(r, cover.value, mode) };
    }
    case 'spread': {
      if (followed) r.report('FLOW_REST', start, endOf(cover), { reason: 'a rest element takes all that is left, so it must be the last' });
      const argument = pattern(r, cover.argument, mode);
      if (argument.type !== 'Identifier' && argument.type !== 'MemberExpression')
        refuse(r, cover.argument, mode, 'the rest of an object needs a name');
      return { type: 'RestElement', start, end: endOf(cover), argument };
    }
    case 'method': {
      const { key, computed } = propertyKey(r, cover.key);
      const end = cover.body.close.end;
      r.report(mode.code, start, end, { reason: 'a method cannot be part of a pattern' });
      return { ...form, end, shorthand: false, computed, key, value: { type: 'Identifier', start, end, name: '' } };
    }
  }
}
