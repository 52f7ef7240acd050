// Resolves the names in expressions and assignment targets.

import type { Expression, FunctionNode, Pattern, Property, SpreadElement, UnaryExpression } from '../parse/ast.js';
import { walkPattern } from '../parse/walk-pattern.js';
import { resolveBlock } from './resolve-statement.js';
import type { Resolver } from './resolver.js';
import { FunctionScope, Scope } from './scope.js';

export function resolveExpression(r: Resolver, node: Expression): void {
  switch (node.type) {
    case 'Identifier':
      return r.refer(node);
    case 'Literal':
    case 'MetaProperty':
    case 'ThisExpression':
      return;
    case 'ArrayExpression':
      return resolveAll(r, node.elements);
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return resolveFunction(r, node);
    case 'AssignmentExpression':
      resolveTarget(r, node.left);
      return resolveExpression(r, node.right);
    case 'AwaitExpression':
      return resolveExpression(r, node.argument);
    case 'UnaryExpression':
      return resolveUnary(r, node);
    case 'BinaryExpression':
    case 'LogicalExpression':
      return resolveOperators(r, node);
    case 'CallExpression':
    case 'NewExpression':
      resolveExpression(r, node.callee);
      return resolveAll(r, node.arguments);
    case 'ChainExpression':
      return resolveExpression(r, node.expression);
    case 'ConditionalExpression':
      resolveExpression(r, node.test);
      resolveExpression(r, node.consequent);
      return resolveExpression(r, node.alternate);
    case 'MemberExpression':
      resolveExpression(r, node.object);
      if (node.computed) resolveExpression(r, node.property);
      else if (node.property.type === 'Identifier') r.referMember(node.object, node.property);
      return;
    case 'ObjectExpression':
      for (const each of node.properties) resolveProperty(r, each);
      return;
    case 'SequenceExpression':
      return resolveAll(r, node.expressions);
    case 'TaggedTemplateExpression':
      resolveExpression(r, node.tag);
      return resolveAll(r, node.quasi.expressions);
    case 'TemplateLiteral':
      return resolveAll(r, node.expressions);
    case 'UpdateExpression':
      return resolveTarget(r, node.argument);
  }
}

/** What `=`, `++` and the head of a `for` assign. */
export function resolveTarget(r: Resolver, target: Pattern): void {
  walkPattern(target, {
    name: (id) => r.assign(id),
    member: (node) => {
      r.assignMember(node);
      if (r.isBuiltIn(node.object)) r.refuseBuiltInChange(node);
      else resolveExpression(r, node.object);
      if (node.computed) resolveExpression(r, node.property);
    },
    expression: (node) => resolveExpression(r, node),
  });
}

/** What a declared pattern evaluates: defaults and computed keys. */
export function resolveDefaults(r: Resolver, pattern: Pattern): void {
  walkPattern(pattern, { expression: (node) => resolveExpression(r, node) });
}

export function resolveFunction(r: Resolver, node: FunctionNode): void {
  const parameters = new Scope(r.scope, new FunctionScope(node, r.scope.fn));
  r.parameterScopes.set(node, parameters);
  r.within(parameters, () => {
    if (node.type === 'FunctionExpression' && node.id) r.declare(node.id, 'functionName', -1);
    for (const each of node.params) r.declarePattern(each, 'parameter', each.end);
    for (const each of node.params) resolveDefaults(r, each);
    if (node.body.type === 'BlockStatement') resolveBlock(r, node.body, parameters, true);
    else resolveExpression(r, node.body);
  });
}

function resolveUnary(r: Resolver, { operator, argument }: UnaryExpression): void {
  if (operator === 'typeof' && argument.type === 'Identifier' && r.isDeclaredNowhere(argument.name)) {
    r.undeclaredTypeofs.add(argument);
    return;
  }
  const member = argument.type === 'ChainExpression' ? argument.expression : argument;
  if (operator !== 'delete' || member.type !== 'MemberExpression' || !r.isBuiltIn(member.object)) return resolveExpression(r, argument);
  r.refuseBuiltInChange(member);
  if (member.computed) resolveExpression(r, member.property);
}

/** A long chain of operators nests on the left: it is walked without host recursion. */
function resolveOperators(r: Resolver, node: Expression): void {
  const rights: Expression[] = [];
  let left = node;
  while (left.type === 'BinaryExpression' || left.type === 'LogicalExpression') {
    rights.push(left.right);
    left = left.left;
  }
  resolveExpression(r, left);
  for (const each of rights.reverse()) resolveExpression(r, each);
}

function resolveAll(r: Resolver, nodes: readonly (Expression | SpreadElement | null)[]): void {
  for (const each of nodes) if (each) resolveExpression(r, each.type === 'SpreadElement' ? each.argument : each);
}

function resolveProperty(r: Resolver, node: Property | SpreadElement): void {
  if (node.type === 'SpreadElement') return resolveExpression(r, node.argument);
  if (node.computed) resolveExpression(r, node.key);
  resolveExpression(r, node.value);
}
