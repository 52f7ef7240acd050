// Turns a resolved syntax tree into a program.

import { LineMap } from '../diagnostics/line-map.js';
import type { FunctionDeclaration, FunctionNode, Pattern, Program as Tree, WorkflowEntry } from '../parse/ast.js';
import type { Binding, FunctionScope, Resolution } from '../scope/scope.js';
import { ConstantPool } from './assembler.js';
import { compileValue } from './expressions.js';
import { type Compilation, FunctionCompiler } from './function-compiler.js';
import { analyzeInertness } from './inertness.js';
import { analyzeLiveness } from './liveness.js';
import { initializePattern } from './patterns.js';
import { type FunctionCode, PROGRAM_VERSION, type Program } from './program.js';
import { compileBlock, compileStatements } from './statements.js';
import { measureStack, oversize } from './verify.js';

/** The table of live variables is stored with the program: an entry per await and variable. */
const MOST_LIVE = 1_000_000;

/** A function far beyond what people write, which would cost more than its source. */
export class FunctionTooLarge extends Error {
  constructor(
    reason: string,
    readonly start: number,
  ) {
    super(reason);
  }
}

export function compileTree(ast: Tree, source: string, file: string, resolution: Resolution): Omit<Program, 'fingerprint'> {
  const pool = new ConstantPool();
  const functions: FunctionCode[] = [];
  const compilation: Compilation = {
    source,
    lines: new LineMap(source),
    resolution,
    pool,
    functions,
    compileFunction(node, name) {
      const index = reserve(functions);
      const c = new FunctionCompiler(compilation, resolution.parameterScopes.get(node)!.fn, node.type !== 'WorkflowEntry' && node.async);
      compileParameters(c, node);
      functions[index] = finish(c, index, name, node.params, node.start);
      return { index, captures: c.scope.captures };
    },
  };
  const index = reserve(functions);
  const main = new FunctionCompiler(compilation, resolution.root.fn, true);
  compileMain(main, ast, resolution);
  functions[index] = finish(main, index, 'main', [], 0, 1);
  return { version: PROGRAM_VERSION, file, functions, constants: pool.values };
}

// The index is taken before the body is compiled, so that functions are numbered in source order.
function reserve(functions: FunctionCode[]): number {
  return functions.push(undefined as unknown as FunctionCode) - 1;
}

function compileMain(c: FunctionCompiler, ast: Tree, resolution: Resolution): void {
  // Slot 0 is `Inputs`, passed like an argument.
  const inputs = resolution.root.bindings.get('Inputs')!;
  inputs.slot = c.newSlot();
  if (inputs.captured) c.asm.emit('BOX', inputs.slot);
  const root = c.enter(resolution.root);
  const entered = c.enter(resolution.scopes.get(ast)!);
  compileStatements(c, ast.body);
  const workflow = ast.body.find((each): each is WorkflowEntry => each.type === 'WorkflowEntry');
  const main = workflow ? undefined : implicitMain(ast);
  if (workflow) compileWorkflow(c, workflow, inputs);
  else if (main) {
    c.load(main.id);
    c.asm.emit('CALL', 0, c.asm.name('main'));
    c.asm.emit('RETURN');
  }
  c.leave(entered);
  c.leave(root);
  c.asm.emit('UNDEFINED');
  c.asm.emit('RETURN');
}

/** `async function main` is called for you when the top level holds nothing but declarations. */
function implicitMain(ast: Tree): FunctionDeclaration | undefined {
  const onlyDeclares = ast.body.every((each) => /^(FunctionDeclaration|VariableDeclaration|EmptyStatement)$/.test(each.type));
  if (!onlyDeclares) return undefined;
  return ast.body.find((each): each is FunctionDeclaration => each.type === 'FunctionDeclaration' && each.async && each.id.name === 'main');
}

/** `workflow(ctx, inputs) { … }` runs inside the main body after everything else there: one branch, one frame to store. */
function compileWorkflow(c: FunctionCompiler, node: WorkflowEntry, inputs: Binding): void {
  const { asm, compilation } = c;
  const entered = c.enter(compilation.resolution.parameterScopes.get(node)!);
  node.params.forEach((pattern, at) => {
    if (at === 0) asm.emit('GLOBAL', asm.name('Context'));
    else if (at === 1) {
      if (inputs.captured) asm.emit('GET_CELL', inputs.slot, asm.name('Inputs'));
      else asm.emit('GET', inputs.slot);
    } else asm.emit('UNDEFINED');
    initializePattern(c, pattern);
  });
  compileBlock(c, node.body);
  c.leave(entered);
}

function compileParameters(c: FunctionCompiler, node: FunctionNode): void {
  const { asm } = c;
  const { resolution } = c.compilation;
  const scope = resolution.parameterScopes.get(node)!;
  const patterns = node.params.map((each) => (each.type === 'RestElement' ? each.argument : each));
  const simple = patterns.every((each) => each.type === 'Identifier');
  const raw = patterns.map(() => c.newSlot());
  if (simple) {
    patterns.forEach((each, at) => {
      if (each.type !== 'Identifier') return;
      const { binding } = resolution.references.get(each)!;
      binding.slot = raw[at];
      if (binding.captured) asm.emit('BOX', binding.slot);
    });
  }
  const entered = c.enter(scope);
  const own = [...scope.bindings.values()].find((each) => each.kind === 'functionName');
  if (own) compileOwnName(c, own);
  if (!simple) {
    patterns.forEach((each, at) => {
      asm.emit('GET', raw[at]);
      initializePattern(c, each);
    });
  }
  asm.at(node.body.start);
  if (node.body.type === 'BlockStatement') {
    compileBlock(c, node.body);
    asm.emit('UNDEFINED');
  } else compileValue(c, node.body);
  c.leave(entered);
  asm.emit('RETURN');
}

function compileOwnName(c: FunctionCompiler, own: Binding): void {
  c.asm.emit('SELF');
  c.initializeBinding(own);
}

function finish(c: FunctionCompiler, index: number, name: string, params: readonly Pattern[], start: number, extra = 0): FunctionCode {
  const { asm, scope } = c;
  const rest = params.at(-1)?.type === 'RestElement';
  const firstOptional = params.findIndex((each) => each.type === 'AssignmentPattern' || each.type === 'RestElement');
  const code: Omit<FunctionCode, 'stack' | 'live' | 'inert'> = {
    index,
    name,
    isAsync: c.isAsync,
    length: firstOptional < 0 ? params.length : firstOptional,
    parameters: params.length - (rest ? 1 : 0) + extra,
    rest,
    slots: c.slotCount,
    code: asm.code,
    captures: captureSources(scope),
    handlers: asm.handlers,
    positions: asm.positions,
    locals: [...asm.locals, ...scope.captures.map(({ name: each }, at) => ({ name: each, at: ~at, from: 0, to: asm.here }))],
  };
  const tooLarge = oversize(code);
  if (tooLarge) throw new FunctionTooLarge(tooLarge, start);
  const depths = measureStack(code);
  const live = c.isAsync ? analyzeLiveness(code, depths, c.compilation.functions) : [];
  if (live.reduce((sum, { slots }) => sum + slots.length, 0) > MOST_LIVE)
    throw new FunctionTooLarge('too many variables are needed after too many awaits', start);
  const inertness = analyzeInertness(code, asm.pool.values);
  return {
    ...code,
    stack: depths.deepest,
    // Always present: functions of two shapes would slow down every call.
    live: live.map((each) => ({ ...each, inert: inertness.after(each.at) })),
    inert: inertness.whole,
  };
}

function captureSources(scope: FunctionScope): number[] {
  return scope.captures.map((binding) => (binding.scope.fn === scope.parent ? binding.slot : ~scope.parent!.capture(binding)));
}
