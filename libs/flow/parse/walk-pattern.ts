// The one walk over a pattern: its names, its targets, and the expressions in it, in the order in which JavaScript evaluates them.

import type { Expression, Identifier, MemberExpression, Pattern } from './ast.js';

/** What is done with the parts of a pattern; absent callbacks are skipped. */
export interface PatternVisitor {
  /** A name that the pattern declares or assigns. */
  name?(id: Identifier): void;
  /** A property that the pattern assigns. */
  member?(node: MemberExpression): void;
  /** A default or a computed key. */
  expression?(node: Expression): void;
}

export function walkPattern(pattern: Pattern, visitor: PatternVisitor): void {
  switch (pattern.type) {
    case 'Identifier':
      visitor.name?.(pattern);
      return;
    case 'MemberExpression':
      visitor.member?.(pattern);
      return;
    case 'ArrayPattern':
      for (const each of pattern.elements) if (each) walkPattern(each, visitor);
      return;
    case 'ObjectPattern':
      for (const each of pattern.properties) {
        if (each.type === 'RestElement') walkPattern(each.argument, visitor);
        else {
          if (each.computed) visitor.expression?.(each.key);
          walkPattern(each.value, visitor);
        }
      }
      return;
    case 'AssignmentPattern':
      walkPattern(pattern.left, visitor);
      visitor.expression?.(pattern.right);
      return;
    case 'RestElement':
      walkPattern(pattern.argument, visitor);
      return;
  }
}
