// Which fields of a node hold the nodes below it, in source order. Names that are not variables (keys, labels) are left out.

import type { Node } from '../parse/ast.js';

const FIELDS: Record<Node['type'], readonly string[]> = {
  Program: ['body'],
  WorkflowEntry: ['params', 'body'],
  BlockStatement: ['body'],
  BreakStatement: [],
  ContinueStatement: [],
  DoWhileStatement: ['body', 'test'],
  EmptyStatement: [],
  ExpressionStatement: ['expression'],
  ForInStatement: ['left', 'right', 'body'],
  ForOfStatement: ['left', 'right', 'body'],
  ForStatement: ['init', 'test', 'update', 'body'],
  FunctionDeclaration: ['id', 'params', 'body'],
  IfStatement: ['test', 'consequent', 'alternate'],
  LabeledStatement: ['body'],
  ReturnStatement: ['argument'],
  SwitchStatement: ['discriminant', 'cases'],
  SwitchCase: ['test', 'consequent'],
  ThrowStatement: ['argument'],
  TryStatement: ['block', 'handler', 'finalizer'],
  CatchClause: ['param', 'body'],
  VariableDeclaration: ['declarations'],
  VariableDeclarator: ['id', 'init'],
  WhileStatement: ['test', 'body'],
  ArrayPattern: ['elements'],
  ObjectPattern: ['properties'],
  AssignmentPattern: ['left', 'right'],
  RestElement: ['argument'],
  ArrayExpression: ['elements'],
  ArrowFunctionExpression: ['params', 'body'],
  AssignmentExpression: ['left', 'right'],
  AwaitExpression: ['argument'],
  BinaryExpression: ['left', 'right'],
  CallExpression: ['callee', 'arguments'],
  ChainExpression: ['expression'],
  ConditionalExpression: ['test', 'consequent', 'alternate'],
  FunctionExpression: ['id', 'params', 'body'],
  Identifier: [],
  Literal: [],
  LogicalExpression: ['left', 'right'],
  MemberExpression: ['object', 'property'],
  MetaProperty: [],
  NewExpression: ['callee', 'arguments'],
  ObjectExpression: ['properties'],
  Property: ['key', 'value'],
  SequenceExpression: ['expressions'],
  SpreadElement: ['argument'],
  TaggedTemplateExpression: ['tag', 'quasi'],
  TemplateElement: [],
  TemplateLiteral: ['expressions'],
  ThisExpression: [],
  UnaryExpression: ['argument'],
  UpdateExpression: ['argument'],
};

/** Calls `visit` with every node directly below `node`. */
export function eachChild(node: Node, visit: (child: Node) => void): void {
  for (const field of FIELDS[node.type]) {
    if ((field === 'key' || field === 'property') && !(node as { computed?: boolean }).computed) continue;
    const value = (node as unknown as Record<string, Node | (Node | null)[] | null>)[field];
    if (Array.isArray(value)) {
      for (const child of value) if (child) visit(child);
    } else if (value) visit(value);
  }
}
