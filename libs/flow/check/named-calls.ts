// Finds the tasks and workflows that a source calls by a literal name, so that a typo is found before a run starts.

import { LineMap } from '../diagnostics/line-map.js';
import { parse } from '../parse/index.js';

/** A durable call with a literal name. */
export interface NamedCall {
  kind: 'task' | 'workflow';
  name: string;
  line: number;
  column: number;
}

interface Node {
  type: string;
  start: number;
  [key: string]: unknown;
}

/** The calls with literal names, in source order; none for a source that does not parse. */
export function namedCalls(source: string): NamedCall[] {
  const { ast } = parse(source);
  if (!ast) return [];
  const lines = new LineMap(source);
  const found: NamedCall[] = [];
  // An explicit stack: the tree may be deeper than the host's.
  const open: unknown[] = [ast];
  while (open.length > 0) {
    const node = open.pop();
    if (Array.isArray(node)) open.push(...node.toReversed());
    else if (isNode(node)) {
      const call = namedCall(node);
      if (call) found.push({ ...call, ...lines.placeOf(node.start) });
      open.push(...Object.values(node).reverse());
    }
  }
  return found;
}

// The built-in names cannot be redeclared, so the name alone says what is called.
function namedCall(node: Node): { kind: 'task' | 'workflow'; name: string } | undefined {
  if (node.type !== 'CallExpression') return undefined;
  const callee = node.callee as Node;
  const [first] = node.arguments as Node[];
  const name = first === undefined ? undefined : literalText(first);
  if (name === undefined) return undefined;
  if (callee.type === 'Identifier') return callee.name === 'task' ? { kind: 'task', name } : undefined;
  if (callee.type !== 'MemberExpression' || callee.computed) return undefined;
  const object = callee.object as Node;
  if ((callee.property as Node).name !== 'run' || object.type !== 'Identifier') return undefined;
  if (object.name === 'Task') return { kind: 'task', name };
  return object.name === 'Workflow' ? { kind: 'workflow', name } : undefined;
}

function literalText(node: Node): string | undefined {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node.type !== 'TemplateLiteral' || (node.expressions as unknown[]).length > 0) return undefined;
  const [quasi] = node.quasis as { value: { cooked: string } }[];
  return quasi?.value.cooked;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
