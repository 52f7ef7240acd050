// Finds the tasks and workflows that a source calls by a literal name, so that a typo is found before a run starts.

import { LineMap } from '../diagnostics/line-map.js';
import type { Node } from '../parse/ast.js';
import { parse } from '../parse/index.js';
import { calleeName } from './callee-name.js';
import { eachChild } from './children.js';

/** A durable call with a literal name. */
export interface NamedCall {
  kind: 'task' | 'workflow';
  name: string;
  line: number;
  column: number;
}

// The name decides what is called: of these only `task` can be declared again, and its calls are then listed too.
const KINDS: ReadonlyMap<string, NamedCall['kind']> = new Map([
  ['Task.run', 'task'],
  ['task', 'task'],
  ['Workflow.run', 'workflow'],
]);

/** The calls with literal names, in source order; none for a source that does not parse. */
export function namedCalls(source: string): NamedCall[] {
  const { ast } = parse(source);
  if (!ast) return [];
  const lines = new LineMap(source);
  const found: NamedCall[] = [];
  const visit = (node: Node): void => {
    if (node.type === 'CallExpression') {
      const kind = KINDS.get(calleeName(node.callee));
      const name = kind && literalString(node.arguments[0]);
      if (kind && name !== undefined) found.push({ kind, name, ...lines.placeOf(node.start) });
    }
    eachChild(node, visit);
  };
  visit(ast);
  return found;
}

function literalString(node: Node | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  return node?.type === 'TemplateLiteral' && node.expressions.length === 0 ? node.quasis[0].value.cooked : undefined;
}
