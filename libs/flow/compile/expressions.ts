// Compiles expressions: for their value (left on the stack), for their effect only, or as a condition that jumps.

import type { Expression, ObjectExpression, SpreadElement, TemplateLiteral } from '../parse/ast.js';
import { Label } from './assembler.js';
import { compileAssignment, compileUpdate } from './assignments.js';
import { compileChain, compileDelete, compileNew } from './chains.js';
import type { FunctionCompiler } from './function-compiler.js';
import { BINARY, LOGICAL, UNARY } from './operator-codes.js';
import { staticKey } from './patterns.js';

export function compileValue(c: FunctionCompiler, node: Expression): void {
  const { asm } = c;
  switch (node.type) {
    case 'Identifier':
      return c.load(node);
    case 'Literal':
      return compileLiteral(c, node.value);
    case 'TemplateLiteral':
      return compileTemplate(c, node);
    case 'ArrayExpression':
      return compileArray(c, node.elements);
    case 'ObjectExpression':
      return compileObject(c, node);
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
      return c.closure(node, node.id?.name ?? '');
    case 'UnaryExpression':
      return compileUnary(c, node.operator, node.argument);
    case 'UpdateExpression':
      return compileUpdate(c, node, true);
    case 'BinaryExpression':
    case 'LogicalExpression':
      return compileOperators(c, node);
    case 'AssignmentExpression':
      return compileAssignment(c, node, true);
    case 'ConditionalExpression': {
      const otherwise = new Label();
      const end = new Label();
      compileBranch(c, node.test, otherwise, false);
      compileValue(c, node.consequent);
      asm.jump('JUMP', end);
      asm.mark(otherwise);
      asm.depth--;
      compileValue(c, node.alternate);
      return asm.mark(end);
    }
    case 'SequenceExpression': {
      const last = node.expressions.length - 1;
      for (const each of node.expressions.slice(0, last)) compileEffect(c, each);
      return compileValue(c, node.expressions[last]);
    }
    case 'AwaitExpression':
      compileValue(c, node.argument);
      asm.at(node.start);
      return asm.emit('AWAIT');
    case 'ChainExpression': {
      const end = new Label();
      compileChain(c, node.expression, end);
      return asm.mark(end);
    }
    case 'MemberExpression':
    case 'CallExpression':
      return compileChain(c, node, undefined);
    case 'NewExpression':
      return compileNew(c, node);
    default:
      throw new Error(`${node.type} passed the checker.`);
  }
}

/** Compiles for the effect only; nothing is left on the stack. */
export function compileEffect(c: FunctionCompiler, node: Expression): void {
  if (node.type === 'UpdateExpression') return compileUpdate(c, node, false);
  if (node.type === 'AssignmentExpression') return compileAssignment(c, node, false);
  if (node.type === 'SequenceExpression') {
    for (const each of node.expressions) compileEffect(c, each);
    return;
  }
  compileValue(c, node);
  c.asm.emit('POP');
}

/** A function without a name of its own takes the name of what it is assigned to. */
export function compileNamed(c: FunctionCompiler, node: Expression, name: string): void {
  const anonymous = node.type === 'ArrowFunctionExpression' || (node.type === 'FunctionExpression' && !node.id);
  if (anonymous) c.closure(node, name);
  else compileValue(c, node);
}

/** Jumps to the label if the condition is truthy (`jumpIf`) or falsy; falls through otherwise. */
export function compileBranch(c: FunctionCompiler, node: Expression, label: Label, jumpIf: boolean): void {
  if (node.type === 'UnaryExpression' && node.operator === '!') return compileBranch(c, node.argument, label, !jumpIf);
  if (node.type === 'LogicalExpression' && node.operator !== '??') {
    const decidesJump = (node.operator === '||') === jumpIf;
    if (decidesJump) {
      compileBranch(c, node.left, label, jumpIf);
      return compileBranch(c, node.right, label, jumpIf);
    }
    const skip = new Label();
    compileBranch(c, node.left, skip, !jumpIf);
    compileBranch(c, node.right, label, jumpIf);
    return c.asm.mark(skip);
  }
  compileValue(c, node);
  c.asm.jump(jumpIf ? 'JUMP_IF_TRUE' : 'JUMP_IF_FALSE', label);
}

function compileLiteral(c: FunctionCompiler, value: unknown): void {
  if (value === null) c.asm.emit('NULL');
  else if (typeof value === 'boolean') c.asm.emit(value ? 'TRUE' : 'FALSE');
  else if (typeof value === 'string' || typeof value === 'number') c.asm.constant(value);
  else throw new Error('A literal of an unsupported type passed the checker.');
}

function compileTemplate(c: FunctionCompiler, node: TemplateLiteral): void {
  let parts = 0;
  node.quasis.forEach((quasi, at) => {
    if (quasi.value.cooked !== '') {
      c.asm.constant(quasi.value.cooked);
      parts++;
    }
    const expression = node.expressions[at];
    if (expression) {
      compileValue(c, expression);
      c.asm.at(expression.start);
      c.asm.emit('TO_STRING');
      parts++;
    }
  });
  if (parts === 0) c.asm.constant('');
  else if (parts > 1) c.asm.emit('CONCAT', parts);
}

export function compileArray(c: FunctionCompiler, elements: readonly (Expression | SpreadElement | null)[]): void {
  const { asm } = c;
  const isPlain = (each: Expression | SpreadElement | null): each is Expression => each !== null && each.type !== 'SpreadElement';
  let plain = 0;
  while (plain < elements.length && plain < 64 && isPlain(elements[plain])) plain++;
  for (const each of elements.slice(0, plain)) compileValue(c, each as Expression);
  asm.emit('NEW_ARRAY', plain);
  for (const each of elements.slice(plain)) {
    if (!each) asm.emit('APPEND_HOLE');
    else if (each.type === 'SpreadElement') {
      compileValue(c, each.argument);
      asm.at(each.start);
      asm.emit('APPEND_ALL');
    } else {
      compileValue(c, each);
      asm.emit('APPEND');
    }
  }
}

function compileObject(c: FunctionCompiler, node: ObjectExpression): void {
  const { asm } = c;
  asm.at(node.start);
  asm.emit('NEW_OBJECT');
  for (const each of node.properties) {
    if (each.type === 'SpreadElement') {
      compileValue(c, each.argument);
      asm.emit('SPREAD_OBJECT');
      continue;
    }
    const name = staticKey(each);
    if (name !== undefined) {
      compileNamed(c, each.value, name);
      asm.emit('DEFINE', asm.name(name));
      continue;
    }
    compileValue(c, each.key);
    asm.at(each.key.start);
    asm.emit('TO_KEY');
    const { value } = each;
    const anonymous = value.type === 'ArrowFunctionExpression' || (value.type === 'FunctionExpression' && !value.id);
    if (anonymous) c.closure(value, '', true);
    else compileValue(c, value);
    asm.emit('DEFINE_KEYED');
  }
}

function compileUnary(c: FunctionCompiler, operator: string, argument: Expression): void {
  const { asm } = c;
  if (operator === 'delete') return compileDelete(c, argument);
  if (operator === '-' && argument.type === 'Literal' && typeof argument.value === 'number') return asm.constant(-argument.value);
  if (operator === 'void') {
    compileEffect(c, argument);
    return asm.emit('UNDEFINED');
  }
  if (operator === 'typeof' && argument.type === 'Identifier' && c.compilation.resolution.undeclaredTypeofs.has(argument))
    return asm.constant('undefined');
  compileValue(c, argument);
  asm.at(argument.start);
  asm.emit(UNARY[operator]);
}

/** Chains of operators nest on the left and may be long: they are compiled without host recursion. */
function compileOperators(c: FunctionCompiler, node: Expression): void {
  const { asm } = c;
  const chain: Extract<Expression, { type: 'BinaryExpression' | 'LogicalExpression' }>[] = [];
  let left = node;
  while (left.type === 'BinaryExpression' || left.type === 'LogicalExpression') {
    chain.push(left);
    left = left.left;
  }
  const ends: (Label | undefined)[] = chain.map((each) => (each.type === 'LogicalExpression' ? new Label() : undefined));
  compileValue(c, left);
  for (let at = chain.length - 1; at >= 0; at--) {
    const each = chain[at];
    const end = ends[at];
    if (each.type === 'LogicalExpression') asm.jump(LOGICAL[each.operator], end!);
    compileValue(c, each.right);
    if (end) asm.mark(end);
    else {
      asm.at(each.start);
      asm.emit(BINARY[each.operator]);
    }
  }
}
