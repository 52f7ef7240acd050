// Compiles statements. Each leaves the operand stack as it found it.

import type {
  BlockStatement,
  CatchClause,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  Statement,
  SwitchStatement,
  TryStatement,
  VariableDeclaration,
  WorkflowEntry,
} from '../parse/ast.js';
import type { Binding } from '../scope/scope.js';
import { Label } from './assembler.js';
import { compileBranch, compileEffect, compileNamed, compileValue } from './expressions.js';
import type { Control, FunctionCompiler } from './function-compiler.js';
import { assignPattern, initializePattern } from './patterns.js';

export function compileStatement(c: FunctionCompiler, node: Statement): void {
  const { asm } = c;
  const labels = c.pendingLabels;
  c.pendingLabels = [];
  asm.at(node.start);
  switch (node.type) {
    case 'BlockStatement':
      return compileBlock(c, node);
    case 'EmptyStatement':
    case 'FunctionDeclaration':
      return;
    case 'ExpressionStatement':
      return compileEffect(c, node.expression);
    case 'VariableDeclaration':
      return compileDeclaration(c, node);
    case 'IfStatement': {
      const otherwise = new Label();
      compileBranch(c, node.test, otherwise, false);
      compileStatement(c, node.consequent);
      if (!node.alternate) return asm.mark(otherwise);
      const end = new Label();
      asm.jump('JUMP', end);
      asm.mark(otherwise);
      compileStatement(c, node.alternate);
      return asm.mark(end);
    }
    case 'WhileStatement': {
      const control = loopControl(c, labels);
      asm.mark(control.next);
      compileBranch(c, node.test, control.exit, false);
      compileBody(c, control, node.body);
      asm.loop(control.next);
      return asm.mark(control.exit);
    }
    case 'DoWhileStatement': {
      const control = loopControl(c, labels);
      const top = new Label();
      asm.mark(top);
      compileBody(c, control, node.body);
      asm.mark(control.next);
      compileBranch(c, node.test, control.exit, false);
      asm.loop(top);
      return asm.mark(control.exit);
    }
    case 'ForStatement':
      return compileFor(c, node, labels);
    case 'ForInStatement':
    case 'ForOfStatement':
      return compileForEach(c, node, labels);
    case 'LabeledStatement': {
      const isLoop = /^(For|While|DoWhile|Labeled|Switch)/.test(node.body.type);
      if (isLoop) {
        c.pendingLabels = [...labels, node.label.name];
        return compileStatement(c, node.body);
      }
      const control = breakable(c, [...labels, node.label.name], false);
      compileBody(c, control, node.body);
      return asm.mark(control.exit);
    }
    case 'BreakStatement': {
      const name = node.label?.name;
      return c.leaveTo((control) =>
        control.kind === 'breakable' && (name === undefined ? control.isPlainTarget : control.labels.includes(name))
          ? { label: control.exit, depth: control.depth }
          : undefined,
      );
    }
    case 'ContinueStatement': {
      const name = node.label?.name;
      return c.leaveTo((control) =>
        control.kind === 'breakable' && control.next && (name === undefined || control.labels.includes(name))
          ? { label: control.next, depth: control.nextDepth! }
          : undefined,
      );
    }
    case 'ReturnStatement': {
      const before = asm.depth;
      if (node.argument) compileValue(c, node.argument);
      else asm.emit('UNDEFINED');
      asm.at(node.start);
      c.leaveFunction();
      asm.depth = before;
      return;
    }
    case 'ThrowStatement':
      compileValue(c, node.argument);
      asm.at(node.start);
      return asm.emit('THROW');
    case 'SwitchStatement':
      return compileSwitch(c, node, labels);
    case 'TryStatement':
      return compileTry(c, node);
  }
}

/** A list of statements whose scope is entered already: functions first, then the rest in order. */
export function compileStatements(c: FunctionCompiler, body: readonly (Statement | WorkflowEntry)[]): void {
  for (const each of body) hoistFunction(c, each);
  for (const each of body) {
    if (each.type === 'WorkflowEntry') continue;
    const depth = c.asm.depth;
    compileStatement(c, each);
    // After a jump or return the count is that of the jump; what follows starts where the statement started.
    c.asm.depth = depth;
  }
}

function hoistFunction(c: FunctionCompiler, node: Statement | WorkflowEntry): void {
  if (node.type === 'LabeledStatement') return hoistFunction(c, node.body);
  if (node.type !== 'FunctionDeclaration') return;
  c.closure(node, node.id.name);
  c.initialize(node.id);
}

export function compileBlock(c: FunctionCompiler, node: BlockStatement): void {
  const entered = c.enter(c.compilation.resolution.scopes.get(node)!);
  compileStatements(c, node.body);
  c.leave(entered);
}

function compileDeclaration(c: FunctionCompiler, node: VariableDeclaration): void {
  for (const { id, init } of node.declarations) {
    if (!init) c.asm.emit('UNDEFINED');
    else compileNamed(c, init, id.type === 'Identifier' ? id.name : '');
    c.asm.at(id.start);
    initializePattern(c, id);
  }
}

// Loops ---------------------------------------------------------------------------------------------------------------

type Breakable = Extract<Control, { kind: 'breakable' }>;

function breakable(c: FunctionCompiler, labels: readonly string[], isPlainTarget: boolean): Breakable {
  return { kind: 'breakable', labels, isPlainTarget, exit: new Label(), depth: c.asm.depth };
}

function loopControl(c: FunctionCompiler, labels: readonly string[]): Breakable & { next: Label } {
  return { ...breakable(c, labels, true), next: new Label(), nextDepth: c.asm.depth };
}

function compileBody(c: FunctionCompiler, control: Control, body: Statement): void {
  const { depth } = c.asm;
  c.controls.push(control);
  compileStatement(c, body);
  c.controls.pop();
  c.asm.depth = depth;
}

function compileFor(c: FunctionCompiler, node: ForStatement, labels: readonly string[]): void {
  const { asm } = c;
  const scope = c.compilation.resolution.scopes.get(node)!;
  const entered = c.enter(scope);
  if (node.init?.type === 'VariableDeclaration') compileDeclaration(c, node.init);
  else if (node.init) compileEffect(c, node.init);
  const copied = [...scope.bindings.values()].filter((binding) => binding.captured && binding.kind === 'let');
  copyCells(c, copied);
  const control = loopControl(c, labels);
  const top = new Label();
  asm.mark(top);
  if (node.test) compileBranch(c, node.test, control.exit, false);
  compileBody(c, control, node.body);
  asm.mark(control.next);
  copyCells(c, copied);
  if (node.update) compileEffect(c, node.update);
  asm.loop(top);
  asm.mark(control.exit);
  c.leave(entered);
}

function copyCells(c: FunctionCompiler, bindings: readonly Binding[]): void {
  for (const { slot } of bindings) c.asm.emit('COPY_CELL', slot);
}

function compileForEach(c: FunctionCompiler, node: ForInStatement | ForOfStatement, labels: readonly string[]): void {
  const { asm } = c;
  const scope = c.compilation.resolution.scopes.get(node)!;
  const entered = c.enter(scope);
  compileValue(c, node.right);
  asm.at(node.right.start);
  asm.emit(node.type === 'ForOfStatement' ? 'ITERATE' : 'FOR_IN');
  const control = { ...loopControl(c, labels), depth: asm.depth - 1, nextDepth: asm.depth };
  const done = control.exit;
  asm.mark(control.next);
  asm.jump('NEXT', done);
  if (node.left.type === 'VariableDeclaration') {
    for (const binding of scope.bindings.values()) c.begin(binding);
    initializePattern(c, node.left.declarations[0].id);
  } else assignPattern(c, node.left);
  compileBody(c, control, node.body);
  asm.loop(control.next);
  asm.mark(done);
  asm.depth = control.depth;
  c.leave(entered);
}

// switch and try ------------------------------------------------------------------------------------------------------

function compileSwitch(c: FunctionCompiler, node: SwitchStatement, labels: readonly string[]): void {
  const { asm } = c;
  const control = breakable(c, labels, true);
  compileValue(c, node.discriminant);
  const entered = c.enter(c.compilation.resolution.scopes.get(node)!);
  for (const each of node.cases) for (const one of each.consequent) hoistFunction(c, one);
  const entries = node.cases.map(() => new Label());
  let fallback = control.exit;
  node.cases.forEach((each, at) => {
    if (!each.test) {
      fallback = entries[at];
      return;
    }
    compileValue(c, each.test);
    asm.jump('CASE', entries[at]);
  });
  asm.emit('POP');
  asm.jump('JUMP', fallback);
  c.controls.push(control);
  node.cases.forEach((each, at) => {
    asm.mark(entries[at]);
    asm.depth = control.depth;
    for (const one of each.consequent) {
      compileStatement(c, one);
      asm.depth = control.depth;
    }
  });
  c.controls.pop();
  asm.mark(control.exit);
  c.leave(entered);
}

/** Completion kinds on the stack of a finally: 0 normal, 1 throw, from 2 on the jumps and returns that pass through. */
function compileTry(c: FunctionCompiler, node: TryStatement): void {
  if (!node.finalizer) return compileCatch(c, node.block, node.handler!);
  const { asm } = c;
  const { depth } = asm;
  const control: Extract<Control, { kind: 'finally' }> = { kind: 'finally', depth, entry: new Label(), exits: [] };
  c.controls.push(control);
  const start = asm.barrier();
  if (node.handler) compileCatch(c, node.block, node.handler);
  else compileBlock(c, node.block);
  c.controls.pop();
  asm.depth = depth;
  asm.emit('UNDEFINED');
  asm.emit('INT', 0);
  asm.jump('JUMP', control.entry);
  const end = asm.barrier();
  asm.protect(start, end, asm.here, depth);
  asm.depth = depth + 1;
  asm.emit('INT', 1);
  asm.mark(control.entry);
  asm.depth = depth + 2;
  compileBlock(c, node.finalizer);
  asm.depth = depth + 2;
  control.exits.forEach(({ label }, at) => {
    asm.jump('FINALLY_JUMP', label, at + 2);
  });
  asm.emit('END_FINALLY');
  if (control.exits.length === 0) return;
  const after = new Label();
  asm.jump('JUMP', after);
  for (const { label, go } of control.exits) {
    asm.mark(label);
    asm.depth = depth + 1;
    go();
  }
  asm.mark(after);
  asm.depth = depth;
}

function compileCatch(c: FunctionCompiler, block: BlockStatement, handler: CatchClause): void {
  const { asm } = c;
  const { depth } = asm;
  const after = new Label();
  const start = asm.barrier();
  compileBlock(c, block);
  asm.depth = depth;
  asm.jump('JUMP', after);
  const end = asm.barrier();
  asm.protect(start, end, asm.here, depth);
  asm.depth = depth + 1;
  const entered = c.enter(c.compilation.resolution.scopes.get(handler)!);
  if (handler.param) initializePattern(c, handler.param);
  else asm.emit('POP');
  compileBlock(c, handler.body);
  c.leave(entered);
  asm.mark(after);
  asm.depth = depth;
}
