// The type of an expression, where the source shows it: of literals, `new`, operators, and calls of built-in functions.

import type { Expression, SpreadElement } from '../parse/ast.js';

/** The types whose members the compiler knows. */
export type SeenType = 'string' | 'number' | 'boolean' | 'array' | 'function' | 'error' | 'date' | 'map' | 'set' | 'promise';

const MADE_BY: ReadonlyMap<string, SeenType> = new Map([
  ...each('string', 'String', 'JSON.stringify', 'crypto.randomUUID', 'encodeURIComponent', 'decodeURIComponent'),
  ...each('number', 'Number', 'parseInt', 'parseFloat', 'Date.now'),
  ...each('boolean', 'Boolean', 'isNaN', 'isFinite', 'Array.isArray'),
  ...each('array', 'Array', 'Array.from', 'Array.of', 'Object.keys', 'Object.values', 'Object.entries'),
  ...each('promise', 'Task.run', 'Task.all', 'Task.any', 'Task.race', 'task', 'Workflow.run', 'Signal.when', 'Signal.next'),
  ...each('promise', 'Timer.sleep', 'Timer.delay', 'Timer.until', 'sleep'),
  ...each('promise', 'Promise.all', 'Promise.allSettled', 'Promise.any', 'Promise.race', 'Promise.resolve', 'Promise.reject'),
]);
const CREATED: ReadonlyMap<string, SeenType> = new Map([
  ['Array', 'array'],
  ['Date', 'date'],
  ['Map', 'map'],
  ['Set', 'set'],
  ['Promise', 'promise'],
]);

/** `isBuiltIn` says whether a name is not declared by the flow where the expression is. */
export function seenType(node: Expression | SpreadElement, isBuiltIn: (name: string) => boolean): SeenType | undefined {
  switch (node.type) {
    case 'Literal':
      return literalType(node.value);
    case 'TemplateLiteral':
      return 'string';
    case 'ArrayExpression':
      return 'array';
    case 'ArrowFunctionExpression':
    case 'FunctionExpression':
      return 'function';
    case 'UnaryExpression':
      return node.operator === 'typeof' ? 'string' : node.operator === '!' ? 'boolean' : undefined;
    case 'BinaryExpression':
      if (node.operator !== '+') return undefined;
      // The left side of a long chain is not followed: host recursion would have no bound.
      return isText(node.left) || isText(node.right) ? 'string' : undefined;
    case 'NewExpression':
      return node.callee.type === 'Identifier' && isBuiltIn(node.callee.name) ? createdType(node.callee.name) : undefined;
    case 'CallExpression': {
      const name = builtInName(node.callee, isBuiltIn);
      return name === undefined ? undefined : (MADE_BY.get(name) ?? (name.endsWith('Error') ? 'error' : undefined));
    }
  }
  return undefined;
}

/** `Timer.sleep`, if that is the built-in function. */
export function builtInName(callee: Expression, isBuiltIn: (name: string) => boolean): string | undefined {
  if (callee.type === 'Identifier') return isBuiltIn(callee.name) ? callee.name : undefined;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.object.type !== 'Identifier') return undefined;
  if (callee.property.type !== 'Identifier' || !isBuiltIn(callee.object.name)) return undefined;
  return `${callee.object.name}.${callee.property.name}`;
}

function literalType(value: unknown): SeenType | undefined {
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : undefined;
}

function createdType(name: string): SeenType | undefined {
  return CREATED.get(name) ?? (name.endsWith('Error') ? 'error' : undefined);
}

function isText(node: Expression): boolean {
  return node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');
}

function each(type: SeenType, ...names: string[]): [string, SeenType][] {
  return names.map((name) => [name, type]);
}
