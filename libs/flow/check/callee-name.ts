// The name of a function that is called by a plain name or as a member of one: `sleep`, `Timer.sleep`.

import type { Expression } from '../parse/ast.js';

/** Empty for every other callee. */
export function calleeName(callee: Expression): string {
  if (callee.type === 'Identifier') return callee.name;
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return '';
  const { object, property, computed } = callee;
  if (!computed && property.type === 'Identifier') return `${object.name}.${property.name}`;
  return property.type === 'Literal' ? `${object.name}.${property.value}` : '';
}
