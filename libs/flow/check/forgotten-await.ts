// Durable calls whose promise is ignored. For a sleep, or a task of the older spelling, that is refused: the flow would silently not
// wait. For the others it is a warning: a task may be started and left alone.

import type { Report } from '../diagnostics/fault.js';
import type { CallExpression, Expression } from '../parse/ast.js';
import { calleeName } from './callee-name.js';

const WAITS = new Set(['Timer.sleep', 'Timer.delay', 'Timer.until', 'sleep', 'task']);
const STARTS: ReadonlyMap<string, string> = new Map([
  ['Task.run', 'the flow goes on at once, and a failure of the task is only logged'],
  ['Workflow.run', 'the flow goes on at once, and a failure of the child is only logged'],
  ['Task.all', 'the flow goes on at once'],
  ['Task.any', 'the flow goes on at once'],
  ['Task.race', 'the flow goes on at once'],
  ['Signal.when', 'the next signal of this name is taken, and nobody reads it'],
  ['Signal.next', 'the next signal of this name is taken, and nobody reads it'],
]);

/** Checks an expression whose value is not used. */
export function refuseForgottenAwait(node: Expression, shadowed: ReadonlySet<string>, report: Report): void {
  switch (node.type) {
    case 'CallExpression': {
      const name = calleeName(node.callee);
      if (shadowed.has(name.split('.')[0])) return;
      const effect = STARTS.get(name);
      if (WAITS.has(name)) report('FLOW_MISSING_AWAIT', node.callee, { name });
      else if (effect !== undefined && !isDetached(node)) report('FLOW_NOT_AWAITED', node.callee, { name, effect });
      return;
    }
    case 'LogicalExpression':
      refuseForgottenAwait(node.right, shadowed, report);
      return;
    case 'ConditionalExpression':
      refuseForgottenAwait(node.consequent, shadowed, report);
      refuseForgottenAwait(node.alternate, shadowed, report);
      return;
    case 'SequenceExpression':
      for (const each of node.expressions) refuseForgottenAwait(each, shadowed, report);
      return;
    case 'ChainExpression':
      refuseForgottenAwait(node.expression, shadowed, report);
      return;
  }
}

/** A child that is to outlive this run is started and left alone. */
function isDetached({ arguments: [, , options] }: CallExpression): boolean {
  if (options?.type !== 'ObjectExpression') return false;
  return options.properties.some(
    (each) =>
      each.type === 'Property' &&
      each.key.type === 'Identifier' &&
      each.key.name === 'detached' &&
      each.value.type === 'Literal' &&
      each.value.value === true,
  );
}
