// Compiles expressions: for their value (left on the stack), for their effect only, or as a condition that jumps.

import type {
  AssignmentExpression,
  CallExpression,
  Expression,
  Identifier,
  MemberExpression,
  NewExpression,
  ObjectExpression,
  SpreadElement,
  TemplateLiteral,
  UpdateExpression,
} from '../parse/ast.js';
import { Label } from './assembler.js';
import type { FunctionCompiler } from './function-compiler.js';
import type { OpOf } from './opcodes.js';
import { assignPattern, compileTarget, memberName, staticKey, storeMember } from './patterns.js';

const BINARY: Record<string, OpOf<2, 1>> = {
  '+': 'ADD',
  '-': 'SUB',
  '*': 'MUL',
  '/': 'DIV',
  '%': 'MOD',
  '**': 'POW',
  '&': 'BIT_AND',
  '|': 'BIT_OR',
  '^': 'BIT_XOR',
  '<<': 'SHL',
  '>>': 'SHR',
  '>>>': 'USHR',
  '==': 'EQ',
  '!=': 'NE',
  '===': 'SEQ',
  '!==': 'SNE',
  '<': 'LT',
  '<=': 'LE',
  '>': 'GT',
  '>=': 'GE',
  in: 'IN',
  instanceof: 'INSTANCEOF',
};
const UNARY: Record<string, OpOf<1, 1>> = { '-': 'NEG', '+': 'PLUS', '!': 'NOT', '~': 'BIT_NOT', typeof: 'TYPEOF' };
const LOGICAL: Record<string, 'AND' | 'OR' | 'COALESCE'> = { '&&': 'AND', '||': 'OR', '??': 'COALESCE' };

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

function compileArray(c: FunctionCompiler, elements: readonly (Expression | SpreadElement | null)[]): void {
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

function compileDelete(c: FunctionCompiler, argument: Expression): void {
  const { asm } = c;
  const chained = argument.type === 'ChainExpression' ? argument.expression : argument;
  if (chained.type !== 'MemberExpression') {
    compileEffect(c, argument);
    return asm.emit('TRUE');
  }
  const end = new Label();
  compileChain(c, chained.object, end);
  if (chained.optional) asm.jump('NULLISH', end);
  if (chained.computed) {
    compileValue(c, chained.property);
    asm.at(chained.property.start);
    asm.emit('DELETE_INDEX');
  } else {
    asm.at(chained.property.start);
    asm.emit('DELETE_PROP', asm.name(memberName(chained)));
  }
  if (end.uses.length === 0) return;
  const done = new Label();
  asm.jump('JUMP', done);
  asm.mark(end);
  asm.emit('POP');
  asm.emit('TRUE');
  asm.mark(done);
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

// Assignment ----------------------------------------------------------------------------------------------------------

function compileAssignment(c: FunctionCompiler, node: AssignmentExpression, wanted: boolean): void {
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

function compileUpdate(c: FunctionCompiler, node: UpdateExpression, wanted: boolean): void {
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

// Members and calls ---------------------------------------------------------------------------------------------------

/** A member, a call, or any other expression; in an optional chain `end` is where `?.` goes when it stops. */
function compileChain(c: FunctionCompiler, node: Expression, end: Label | undefined): void {
  const { asm } = c;
  if (node.type === 'MemberExpression') {
    compileChain(c, node.object, end);
    if (node.optional) asm.jump('NULLISH', end!);
    if (node.computed) {
      compileValue(c, node.property);
      asm.at(node.property.start);
      return asm.emit('GET_INDEX');
    }
    asm.at(node.property.start);
    return asm.emit('GET_PROP', asm.name(memberName(node)));
  }
  if (node.type === 'CallExpression') return compileCall(c, node, end);
  compileValue(c, node);
}

function compileCall(c: FunctionCompiler, node: CallExpression, end: Label | undefined): void {
  const { asm } = c;
  const { callee } = node;
  // `(a?.b)(…)` keeps its receiver, though the parentheses end the chain.
  const inner = callee.type === 'ChainExpression' && callee.expression.type === 'MemberExpression' ? callee.expression : undefined;
  const member = callee.type === 'MemberExpression' ? callee : inner;
  if (!member) {
    compileChain(c, callee, end);
    if (node.optional) asm.jump('NULLISH', end!);
    return compileArguments(c, node, 'CALL');
  }
  const innerEnd = inner ? new Label() : end;
  compileChain(c, member.object, innerEnd);
  if (member.optional) asm.jump('NULLISH', innerEnd!);
  if (member.computed) {
    compileValue(c, member.property);
    asm.at(member.property.start);
    asm.emit('GET_METHOD_INDEX');
  } else {
    asm.at(member.property.start);
    asm.emit('GET_METHOD', asm.name(memberName(member)));
  }
  if (inner) {
    // The chain that stopped leaves one undefined; give it a receiver to call.
    const called = new Label();
    asm.jump('JUMP', called);
    asm.mark(innerEnd!);
    asm.depth--;
    asm.emit('DUP');
    asm.mark(called);
  }
  if (node.optional) asm.jump('NULLISH_METHOD', end!);
  compileArguments(c, node, 'CALL_METHOD');
}

function compileNew(c: FunctionCompiler, node: NewExpression): void {
  compileValue(c, node.callee);
  compileArguments(c, node, 'NEW');
}

function compileArguments(c: FunctionCompiler, node: CallExpression | NewExpression, op: 'CALL' | 'CALL_METHOD' | 'NEW'): void {
  const { asm } = c;
  const name = asm.name(c.textOf(node.callee));
  const args = node.arguments;
  if (args.some((each) => each.type === 'SpreadElement')) {
    compileArray(c, args);
    asm.at(callPosition(node));
    return asm.emit(`${op}_SPREAD`, name);
  }
  for (const each of args) compileValue(c, each as Expression);
  asm.at(callPosition(node));
  asm.emit(op, args.length, name);
}

/** Where a stack trace points: the method's name for `a.b()`, else the start of the call. */
function callPosition(node: CallExpression | NewExpression): number {
  const { callee } = node;
  return node.type === 'CallExpression' && callee.type === 'MemberExpression' ? callee.property.start : node.start;
}
