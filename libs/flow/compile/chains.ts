// Compiles members, calls, `new`, `delete` and optional chains.

import type { CallExpression, Expression, MemberExpression, NewExpression } from '../parse/ast.js';
import { Label } from './assembler.js';
import { compileArray, compileEffect, compileValue } from './expressions.js';
import type { FunctionCompiler } from './function-compiler.js';
import { memberName } from './patterns.js';

/** A member, a call, or any other expression; in an optional chain `end` is where `?.` goes when it stops. */
export function compileChain(c: FunctionCompiler, node: Expression, end: Label | undefined): void {
  const { asm } = c;
  if (node.type === 'MemberExpression') {
    compileChain(c, node.object, end);
    if (node.optional) asm.jump('NULLISH', end!);
    return access(c, node, 'GET_INDEX', 'GET_PROP');
  }
  if (node.type === 'CallExpression') return compileCall(c, node, end);
  compileValue(c, node);
}

/** Reads or deletes a member of the object on top of the stack, with the instruction for a computed key or the one for a name. */
function access(
  c: FunctionCompiler,
  node: MemberExpression,
  keyed: `${'GET' | 'GET_METHOD' | 'DELETE'}_INDEX`,
  named: 'GET_PROP' | 'GET_METHOD' | 'DELETE_PROP',
): void {
  const { asm } = c;
  if (node.computed) compileValue(c, node.property);
  asm.at(node.property.start);
  if (node.computed) asm.emit(keyed);
  else asm.emit(named, asm.name(memberName(node)));
}

export function compileDelete(c: FunctionCompiler, argument: Expression): void {
  const { asm } = c;
  const chained = argument.type === 'ChainExpression' ? argument.expression : argument;
  if (chained.type !== 'MemberExpression') {
    compileEffect(c, argument);
    return asm.emit('TRUE');
  }
  const end = new Label();
  compileChain(c, chained.object, end);
  if (chained.optional) asm.jump('NULLISH', end);
  access(c, chained, 'DELETE_INDEX', 'DELETE_PROP');
  if (end.uses.length === 0) return;
  const done = new Label();
  asm.jump('JUMP', done);
  asm.mark(end);
  asm.emit('POP');
  asm.emit('TRUE');
  asm.mark(done);
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
  access(c, member, 'GET_METHOD_INDEX', 'GET_METHOD');
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

export function compileNew(c: FunctionCompiler, node: NewExpression): void {
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
