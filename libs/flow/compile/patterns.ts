// Compiles destructuring: the value is on top of the stack and is consumed.

import type { AssignmentProperty, Expression, MemberExpression, ObjectPattern, Pattern, RestElement } from '../parse/ast.js';
import { Label } from './assembler.js';
import { compileNamed, compileValue } from './expressions.js';
import type { FunctionCompiler } from './function-compiler.js';

/** Declares: every identifier is a new variable. */
export function initializePattern(c: FunctionCompiler, pattern: Pattern): void {
  destructure(c, pattern, true);
}

/** Assigns: identifiers and members exist already. */
export function assignPattern(c: FunctionCompiler, pattern: Pattern): void {
  destructure(c, pattern, false);
}

function destructure(c: FunctionCompiler, pattern: Pattern, declares: boolean): void {
  const { asm } = c;
  switch (pattern.type) {
    case 'Identifier':
      return declares ? c.initialize(pattern) : c.store(pattern);
    case 'MemberExpression': {
      // Only as the head of `for (a.b of …)`: the value came first.
      const slots = compileTarget(c, pattern);
      asm.emit('PICK', slots);
      storeMember(c, pattern);
      asm.emit('POP');
      asm.emit('POP');
      return;
    }
    case 'AssignmentPattern':
      compileDefault(c, pattern.left, pattern.right);
      return destructure(c, pattern.left, declares);
    case 'RestElement':
      return destructure(c, pattern.argument, declares);
    case 'ArrayPattern': {
      asm.at(pattern.start);
      asm.emit('ITERATE');
      const iterator = asm.depth - 1;
      for (const each of pattern.elements) {
        if (!each) {
          asm.emit('NEXT_OR_UNDEFINED', 0);
          asm.emit('POP');
        } else {
          const isRest = each.type === 'RestElement';
          element(c, isRest ? each.argument : each, declares, () =>
            asm.emit(isRest ? 'REST_ELEMENTS' : 'NEXT_OR_UNDEFINED', asm.depth - 1 - iterator),
          );
        }
      }
      asm.emit('POP');
      return;
    }
    case 'ObjectPattern':
      return objectPattern(c, pattern, declares);
  }
}

/** One target of a pattern: its reference first, then the value (`fetch`), then the default. */
function element(c: FunctionCompiler, pattern: Pattern, declares: boolean, fetch: () => void): void {
  const target = pattern.type === 'AssignmentPattern' ? pattern.left : pattern;
  if (target.type === 'MemberExpression') compileTarget(c, target);
  fetch();
  if (pattern.type === 'AssignmentPattern') compileDefault(c, target, pattern.right);
  if (target.type === 'MemberExpression') {
    storeMember(c, target);
    c.asm.emit('POP');
  } else destructure(c, target, declares);
}

function objectPattern(c: FunctionCompiler, pattern: ObjectPattern, declares: boolean): void {
  const { asm } = c;
  asm.at(pattern.start);
  asm.emit('REQUIRE_OBJECT');
  const source = asm.depth - 1;
  const rest = pattern.properties.find((each): each is RestElement => each.type === 'RestElement');
  let keys = 0;
  for (const each of pattern.properties) {
    if (each.type === 'RestElement') continue;
    // With a rest the keys stay on the stack until it is built; without one a computed key is dropped after its use.
    const name = staticKey(each);
    const keyAt = asm.depth;
    if (name === undefined) {
      compileValue(c, each.key);
      asm.emit('TO_KEY');
    } else if (rest) asm.constant(name);
    element(c, each.value, declares, () => {
      asm.emit('PICK', asm.depth - 1 - source);
      asm.at(each.start);
      if (name === undefined) {
        asm.emit('PICK', asm.depth - 1 - keyAt);
        asm.emit('GET_INDEX');
      } else asm.emit('GET_PROP', asm.name(name));
    });
    if (rest) keys++;
    else if (name === undefined) asm.emit('POP');
  }
  if (!rest) return asm.emit('POP');
  asm.emit('OBJECT_REST', keys);
  destructure(c, rest.argument, declares);
}

function compileDefault(c: FunctionCompiler, target: Pattern, value: Expression): void {
  const given = new Label();
  c.asm.jump('DEFAULT', given);
  compileNamed(c, value, target.type === 'Identifier' ? target.name : '');
  c.asm.mark(given);
}

/** Pushes the object (and the key) of a member and returns how many values that is. */
export function compileTarget(c: FunctionCompiler, node: MemberExpression): number {
  compileValue(c, node.object);
  if (!node.computed) return 1;
  compileValue(c, node.property);
  return 2;
}

/** Object, (key,) value → value, stored. */
export function storeMember(c: FunctionCompiler, node: MemberExpression): void {
  c.asm.at(node.property.start);
  if (node.computed) c.asm.emit('SET_INDEX');
  else c.asm.emit('SET_PROP', c.asm.name(memberName(node)));
}

export function memberName(node: MemberExpression): string {
  return node.property.type === 'Identifier' ? node.property.name : '';
}

/** The name of a property whose key is known at compile time. */
export function staticKey(node: { key: AssignmentProperty['key']; computed: boolean }): string | undefined {
  const { key } = node;
  if (!node.computed && key.type === 'Identifier') return key.name;
  if (key.type === 'Literal' && (typeof key.value === 'string' || typeof key.value === 'number')) return String(key.value);
  return undefined;
}
