// The shape of a file: one `workflow(…) { … }` at most, and besides it only declarations.

import type { Report } from '../diagnostics/fault.js';
import type { Node, Pattern, Program } from '../parse/ast.js';
import { walkPattern } from '../parse/walk-pattern.js';
import { eachChild } from './children.js';

/** Checks the top level and returns the names that the file declares anywhere. */
export function checkEntry(ast: Program, report: Report): Set<string> {
  const entries = ast.body.filter(({ type }) => type === 'WorkflowEntry');
  for (const extra of entries.slice(1)) report('FLOW_ENTRY_PLACE', { start: extra.start, end: extra.start + 'workflow'.length });
  const declared = declaredNames(ast);
  if (entries.length === 0) return declared;
  if (declared.has('workflow')) report('FLOW_ENTRY_NAME', { start: entries[0].start, end: entries[0].start + 'workflow'.length });
  for (const node of ast.body) {
    const declares = node.type === 'FunctionDeclaration' || node.type === 'VariableDeclaration' || node.type === 'WorkflowEntry';
    if (!declares && node.type !== 'EmptyStatement' && !('directive' in node)) report('FLOW_ENTRY_MIXED', node);
  }
  return declared;
}

function declaredNames(root: Node): Set<string> {
  const names = new Set<string>();
  const bind = (pattern: Pattern | null): void => {
    if (pattern) walkPattern(pattern, { name: ({ name }) => names.add(name) });
  };
  const visit = (node: Node): void => {
    if (node.type === 'VariableDeclarator') bind(node.id);
    else if (node.type === 'CatchClause') bind(node.param);
    else if ('params' in node) for (const param of node.params) bind(param);
    if (node.type === 'FunctionDeclaration' || node.type === 'FunctionExpression') bind(node.id);
    eachChild(node, visit);
  };
  visit(root);
  return names;
}
