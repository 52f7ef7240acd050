// Rules about where things are allowed: await, break, continue, labels, directives.

import type { Report } from '../diagnostics/fault.js';
import type { FunctionNode, Node, Pattern, Statement } from '../parse/ast.js';
import { eachChild } from './children.js';
import { refuseForgottenAwait } from './forgotten-await.js';
import { refuseLiteralOptions } from './literal-options.js';
import { refuseNode } from './refused-nodes.js';

/** What surrounds a node inside its function. */
interface Surroundings {
  async: boolean;
  /** Inside the parameters, where await is not allowed. */
  parameters: boolean;
  breakable: boolean;
  loop: boolean;
  labels: readonly { name: string; loop: boolean }[];
}

const TOP: Surroundings = { async: true, parameters: false, breakable: false, loop: false, labels: [] };

/** Walks the whole tree once. `shadowed` are the names that the file declares itself. */
export function checkPlacement(root: Node, shadowed: ReadonlySet<string>, report: Report): void {
  const visit = (node: Node, around: Surroundings): void => {
    refuseNode(node, report);
    switch (node.type) {
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression':
      case 'WorkflowEntry':
        visitFunction(node, around);
        return;
      case 'AwaitExpression':
        if (around.parameters) report('FLOW_AWAIT_PARAMETER', { start: node.start, end: node.start + 'await'.length });
        else if (!around.async) report('FLOW_AWAIT_PLACE', { start: node.start, end: node.start + 'await'.length });
        break;
      case 'CallExpression':
        refuseLiteralOptions(node, shadowed, report);
        break;
      case 'ExpressionStatement':
        refuseForgottenAwait(node.expression, shadowed, report);
        break;
      case 'BreakStatement':
      case 'ContinueStatement':
        checkJump(node, around, report);
        return;
      case 'LabeledStatement': {
        const { name } = node.label;
        if (around.labels.some((label) => label.name === name)) report('FLOW_LABEL_TWICE', node.label, { name });
        visit(node.body, { ...around, labels: [...around.labels, { name, loop: isLoop(node.body) }] });
        return;
      }
      case 'SwitchStatement':
        visit(node.discriminant, around);
        for (const each of node.cases) visit(each, { ...around, breakable: true });
        return;
      case 'ForStatement':
        if (node.update) refuseForgottenAwait(node.update, shadowed, report);
        break;
    }
    const inside = isLoop(node) ? { ...around, breakable: true, loop: true } : around;
    eachChild(node, (child) => visit(child, inside));
  };

  const visitFunction = (node: FunctionNode, around: Surroundings): void => {
    if ('id' in node && node.id) visit(node.id, around);
    const async = node.type === 'WorkflowEntry' || node.async;
    for (const param of node.params) visit(param, { ...TOP, async, parameters: true });
    if (node.body.type === 'BlockStatement') checkDirectives(node.params, node.body.body, report);
    visit(node.body, { ...TOP, async });
  };

  visit(root, TOP);
}

function isLoop(node: Node): boolean {
  if (node.type === 'LabeledStatement') return isLoop(node.body);
  return node.type.startsWith('For') || node.type === 'WhileStatement' || node.type === 'DoWhileStatement';
}

function checkJump(node: Extract<Statement, { label: unknown }>, around: Surroundings, report: Report): void {
  if (node.type === 'LabeledStatement') return;
  const word = { start: node.start, end: node.start + (node.type === 'BreakStatement' ? 'break' : 'continue').length };
  if (!node.label) {
    if (node.type === 'BreakStatement' && !around.breakable) report('FLOW_BREAK', word);
    if (node.type === 'ContinueStatement' && !around.loop) report('FLOW_CONTINUE', word);
    return;
  }
  const { name } = node.label;
  const target = around.labels.find((label) => label.name === name);
  if (!target) report('FLOW_LABEL', node.label, { name });
  else if (node.type === 'ContinueStatement' && !target.loop) report('FLOW_LABEL_LOOP', node.label, { name });
}

function checkDirectives(params: Pattern[], body: Statement[], report: Report): void {
  const strict = body.find((node) => node.type === 'ExpressionStatement' && node.directive === 'use strict');
  if (strict && params.some(({ type }) => type !== 'Identifier')) report('FLOW_STRICT_PARAMS', strict);
}
