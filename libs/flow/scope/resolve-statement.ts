// Resolves the names in statements: which scopes they open and what is declared in them.

import type {
  BlockStatement,
  CatchClause,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  Statement,
  SwitchStatement,
  WorkflowEntry,
} from '../parse/ast.js';
import { resolveDefaults, resolveExpression, resolveFunction, resolveTarget } from './resolve-expression.js';
import type { Resolver } from './resolver.js';
import type { Scope } from './scope.js';

/** Declares what statements declare, before any of them runs. `parameters` are those of a function or catch around them. */
export function hoist(r: Resolver, body: readonly (Statement | WorkflowEntry)[], parameters?: Scope, isFunctionBody = false): void {
  for (const each of body) {
    if (each.type === 'FunctionDeclaration') {
      if (isFunctionBody) r.declareBodyFunction(each.id);
      else r.declare(each.id, 'function', -1, parameters);
    } else if (each.type === 'VariableDeclaration') {
      for (const one of each.declarations) {
        if (each.kind === 'var') r.declareVars(one.id, parameters);
        else r.declareVariable(one, each.kind, parameters);
      }
    } else if (each.type === 'LabeledStatement') hoist(r, [each.body], parameters);
  }
}

export function resolveStatement(r: Resolver, node: Statement): void {
  switch (node.type) {
    case 'BlockStatement':
      return resolveBlock(r, node);
    case 'BreakStatement':
    case 'ContinueStatement':
    case 'EmptyStatement':
      return;
    case 'DoWhileStatement':
      resolveStatement(r, node.body);
      return resolveExpression(r, node.test);
    case 'ExpressionStatement':
      return resolveExpression(r, node.expression);
    case 'ForInStatement':
    case 'ForOfStatement':
      return resolveForEach(r, node);
    case 'ForStatement':
      return resolveFor(r, node);
    case 'FunctionDeclaration':
      return resolveFunction(r, node);
    case 'IfStatement':
      resolveExpression(r, node.test);
      resolveStatement(r, node.consequent);
      if (node.alternate) resolveStatement(r, node.alternate);
      return;
    case 'LabeledStatement':
      return resolveStatement(r, node.body);
    case 'ReturnStatement':
      if (node.argument) resolveExpression(r, node.argument);
      return;
    case 'SwitchStatement':
      return resolveSwitch(r, node);
    case 'ThrowStatement':
      return resolveExpression(r, node.argument);
    case 'TryStatement':
      resolveBlock(r, node.block);
      if (node.handler) resolveCatch(r, node.handler);
      if (node.finalizer) resolveBlock(r, node.finalizer);
      return;
    case 'VariableDeclaration':
      for (const each of node.declarations) {
        resolveDefaults(r, each.id);
        if (each.init) resolveExpression(r, each.init);
      }
      return;
    case 'WhileStatement':
      resolveExpression(r, node.test);
      return resolveStatement(r, node.body);
  }
}

export function resolveBlock(r: Resolver, node: BlockStatement, parameters?: Scope, isFunctionBody = false): void {
  r.within(r.open(node), () => {
    hoist(r, node.body, parameters, isFunctionBody);
    for (const each of node.body) resolveStatement(r, each);
  });
}

function resolveCatch(r: Resolver, node: CatchClause): void {
  r.within(r.open(node), () => {
    if (node.param) {
      r.declarePattern(node.param, 'catch', node.param.end);
      resolveDefaults(r, node.param);
    }
    resolveBlock(r, node.body, r.scope);
  });
}

function resolveSwitch(r: Resolver, node: SwitchStatement): void {
  resolveExpression(r, node.discriminant);
  r.within(r.open(node, true), () => {
    for (const each of node.cases) hoist(r, each.consequent);
    for (const each of node.cases) {
      if (each.test) resolveExpression(r, each.test);
      for (const one of each.consequent) resolveStatement(r, one);
    }
  });
}

function resolveFor(r: Resolver, node: ForStatement): void {
  r.within(r.open(node), () => {
    if (node.init?.type === 'VariableDeclaration') {
      hoist(r, [node.init]);
      resolveStatement(r, node.init);
    } else if (node.init) resolveExpression(r, node.init);
    if (node.test) resolveExpression(r, node.test);
    if (node.update) resolveExpression(r, node.update);
    resolveStatement(r, node.body);
  });
}

function resolveForEach(r: Resolver, node: ForInStatement | ForOfStatement): void {
  r.within(r.open(node), () => {
    if (node.left.type === 'VariableDeclaration') {
      const { kind, declarations } = node.left;
      if (kind === 'var') r.declareVars(declarations[0].id);
      else r.declarePattern(declarations[0].id, kind, declarations[0].end);
      for (const each of r.scope.bindings.values()) r.headBindings.add(each);
      resolveExpression(r, node.right);
      for (const each of r.scope.bindings.values()) r.headBindings.delete(each);
      resolveDefaults(r, declarations[0].id);
    } else {
      resolveTarget(r, node.left);
      resolveExpression(r, node.right);
    }
    resolveStatement(r, node.body);
  });
}
