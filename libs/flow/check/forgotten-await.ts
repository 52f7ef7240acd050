// A sleep or a task of the older spelling whose promise is ignored: the flow would silently not wait.

import type { Report } from '../diagnostics/fault.js';
import type { Expression } from '../parse/ast.js';
import { calleeName } from './callee-name.js';

const WAITS = new Set(['Timer.sleep', 'Timer.delay', 'Timer.until', 'sleep', 'task']);

/** Checks an expression whose value is not used. */
export function refuseForgottenAwait(node: Expression, shadowed: ReadonlySet<string>, report: Report): void {
  switch (node.type) {
    case 'CallExpression': {
      const name = calleeName(node.callee);
      if (WAITS.has(name) && !shadowed.has(name.split('.')[0])) report('FLOW_MISSING_AWAIT', node.callee, { name });
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
