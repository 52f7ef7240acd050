// Compiles assignments, compound assignments and `++`/`--`.

import type { AssignmentExpression, Identifier, MemberExpression, UpdateExpression } from '../parse/ast.js';
import { Label } from './assembler.js';
import { compileNamed, compileValue } from './expressions.js';
import type { FunctionCompiler } from './function-compiler.js';
import { BINARY, LOGICAL } from './operator-codes.js';
import { assignPattern, compileTarget, memberName, storeMember } from './patterns.js';

export function compileAssignment(c: FunctionCompiler, node: AssignmentExpression, wanted: boolean): void {
  const { asm } = c;
  const { left, right, operator } = node;
  if (operator === '=') {
    if (left.type === 'MemberExpression') {
      compileTarget(c, left);
      compileValue(c, right);
      storeMember(c, left);
      if (!wanted) asm.emit('POP');
      return;
    }
    compileNamed(c, right, left.type === 'Identifier' ? left.name : '');
    if (wanted) asm.emit('DUP');
    return assignPattern(c, left);
  }
  const target = left as Identifier | MemberExpression;
  const logical = LOGICAL[operator.slice(0, -1)];
  loadTarget(c, target);
  if (logical) {
    const end = new Label();
    const held = target.type === 'Identifier' ? 0 : target.computed ? 2 : 1;
    asm.jump(logical, end);
    compileNamed(c, right, target.type === 'Identifier' ? target.name : '');
    const done = new Label();
    storeTarget(c, target, wanted);
    asm.jump('JUMP', done);
    asm.mark(end);
    asm.depth += held + (wanted ? 0 : 1);
    if (held > 0) asm.emit('NIP', held);
    if (!wanted) asm.emit('POP');
    return asm.mark(done);
  }
  compileValue(c, right);
  asm.at(node.start);
  asm.emit(BINARY[operator.slice(0, -1)]);
  storeTarget(c, target, wanted);
}

/** Pushes what is needed to store later (nothing, object, or object and key) and then the current value. */
function loadTarget(c: FunctionCompiler, target: Identifier | MemberExpression): void {
  const { asm } = c;
  if (target.type === 'Identifier') return c.load(target);
  compileTarget(c, target);
  asm.at(target.property.start);
  if (target.computed) {
    asm.emit('TO_KEY');
    asm.emit('DUP2');
    asm.emit('GET_INDEX');
  } else {
    asm.emit('DUP');
    asm.emit('GET_PROP', asm.name(memberName(target)));
  }
}

function storeTarget(c: FunctionCompiler, target: Identifier | MemberExpression, wanted: boolean): void {
  if (target.type === 'Identifier') {
    if (wanted) c.asm.emit('DUP');
    return c.store(target);
  }
  storeMember(c, target);
  if (!wanted) c.asm.emit('POP');
}

export function compileUpdate(c: FunctionCompiler, node: UpdateExpression, wanted: boolean): void {
  const { asm } = c;
  const step = node.operator === '++' ? 'INC' : 'DEC';
  const slot = c.plainSlot(node.argument);
  if (!wanted && slot >= 0) {
    asm.at(node.start);
    return asm.emit(`${step}_LOCAL`, slot);
  }
  const target = node.argument;
  loadTarget(c, target);
  asm.at(node.start);
  asm.emit('PLUS');
  if (!wanted || node.prefix) {
    asm.emit(step);
    return storeTarget(c, target, wanted);
  }
  // The old value is the result: it stays below the object and key while the new one is stored.
  if (target.type === 'Identifier') {
    asm.emit('DUP');
    asm.emit(step);
    return c.store(target);
  }
  const held = target.computed ? 2 : 1;
  asm.emit('DUP');
  asm.emit(step);
  // object (key) old new → pick the references again, store, drop them.
  for (let at = 0; at < held; at++) asm.emit('PICK', held + 1);
  asm.emit('PICK', held);
  storeMember(c, target);
  asm.emit('POP');
  asm.emit('POP');
  asm.emit('NIP', held);
}
