// Nodes that Flow refuses everywhere.

import type { Report } from '../diagnostics/fault.js';
import { ERROR_KINDS } from '../error-kinds.js';
import type { Node, ObjectExpression } from '../parse/ast.js';

/** The built-in types that `new` creates. */
const CONSTRUCTORS: readonly string[] = ['Array', 'Date', 'Map', 'Set', 'Promise', ...ERROR_KINDS];
const LOCALE = /^(?:toLocale\w*|localeCompare)$/;

/** With these, `new` wraps a primitive in an object. */
const WRAPPERS: ReadonlySet<string> = new Set(['String', 'Number', 'Boolean']);

/** Reports the node itself if it is refused; not what is below it. */
export function refuseNode(node: Node, report: Report): void {
  switch (node.type) {
    case 'VariableDeclaration':
      if (node.kind === 'var') report('FLOW_VAR', { start: node.start, end: node.start + 'var'.length });
      return;
    case 'ThisExpression':
      report('FLOW_THIS', node, { name: 'this' });
      return;
    case 'Literal':
      if (node.regex) report('FLOW_REGEX', node);
      else if (node.bigint !== undefined) report('FLOW_BIGINT', node);
      return;
    case 'Property':
      // A key that is not computed is not a child of its property.
      if (!node.computed && node.key.type === 'Literal' && node.key.bigint !== undefined) report('FLOW_BIGINT', node.key);
      return;
    case 'Identifier':
      if (node.name === 'eval') report('FLOW_EVAL', node);
      else if (node.name === 'arguments') report('FLOW_ARGUMENTS', node);
      return;
    case 'NewExpression':
      if (node.callee.type === 'Identifier' && WRAPPERS.has(node.callee.name)) {
        report('FLOW_WRAPPER', { start: node.start, end: node.callee.end }, { name: `new ${node.callee.name}` });
      } else if (node.callee.type !== 'Identifier' || !CONSTRUCTORS.includes(node.callee.name)) {
        report('FLOW_NEW', { start: node.start, end: node.callee.end }, { types: CONSTRUCTORS.join(', ') });
      }
      return;
    case 'CallExpression': {
      const { callee } = node;
      if (
        callee.type === 'MemberExpression' &&
        callee.property.type === 'Identifier' &&
        !callee.computed &&
        LOCALE.test(callee.property.name)
      ) {
        report('FLOW_LOCALE', callee.property, { name: callee.property.name });
      } else if (callee.type === 'Identifier' && callee.name === 'Object' && isPrimitive(node.arguments[0])) {
        report('FLOW_WRAPPER', node, { name: 'Object' });
      }
      return;
    }
    case 'UnaryExpression':
      if (node.operator === 'delete' && node.argument.type === 'Identifier') report('FLOW_DELETE_NAME', node);
      return;
    case 'ObjectExpression':
      refusePrototypes(node, report);
      return;
  }
}

/** A value that is certainly not an object: `null` and `undefined` are not wrapped, and a regular expression is refused as such. */
function isPrimitive(node: Node | undefined): boolean {
  if (node?.type === 'TemplateLiteral') return true;
  return node?.type === 'Literal' && !node.regex && node.bigint === undefined && node.value !== null;
}

/** `{ __proto__: x }` sets a prototype; shorthand, computed and method forms make a plain property. */
function refusePrototypes(node: ObjectExpression, report: Report): void {
  for (const property of node.properties) {
    if (property.type !== 'Property' || property.computed || property.shorthand || property.method) continue;
    const { key } = property;
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? key.value : '';
    if (name === '__proto__') report('FLOW_PROTO', key);
  }
}
