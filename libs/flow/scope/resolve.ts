// Builds the scope tree of a syntax tree, connects every identifier with its variable and reports names that are wrong.

import type { Fault } from '../diagnostics/fault.js';
import type { Program, WorkflowEntry } from '../parse/ast.js';
import { resolveDefaults } from './resolve-expression.js';
import { hoist, resolveBlock, resolveStatement } from './resolve-statement.js';
import { type BuiltInNames, Resolver } from './resolver.js';
import { type Resolution, Scope } from './scope.js';

export function resolve(ast: Program, builtIn: BuiltInNames): { resolution: Resolution; faults: Fault[] } {
  const resolver = new Resolver(ast, builtIn);
  resolver.within(resolver.open(ast), () => {
    hoist(resolver, ast.body);
    for (const each of ast.body) if (each.type !== 'WorkflowEntry') resolveStatement(resolver, each);
    for (const each of ast.body) if (each.type === 'WorkflowEntry') resolveWorkflow(resolver, each);
  });
  resolver.finish();
  return { resolution: resolver, faults: resolver.faults };
}

/** The entry is part of the main body: its parameters are variables there. */
function resolveWorkflow(r: Resolver, node: WorkflowEntry): void {
  const parameters = new Scope(r.scope, r.scope.fn);
  r.parameterScopes.set(node, parameters);
  r.within(parameters, () => {
    for (const each of node.params) r.declarePattern(each, 'parameter', each.end);
    for (const each of node.params) resolveDefaults(r, each);
    resolveBlock(r, node.body, parameters, true);
  });
}
