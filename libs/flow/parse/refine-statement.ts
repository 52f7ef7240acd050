// Statements: which `if` an `else` belongs to, the parts of loops, declarations and function bodies.

import type * as ast from './ast.js';
import { type Block, type CoverStatement, type Declaration, type Head, itemsOf, type List, type Nested } from './cover.js';
import { endOf, startOf } from './extent.js';
import type { Refinement } from './refine.js';
import { expression } from './refine-expression.js';
import { identifier } from './refine-literal.js';
import { assignmentTarget, bindingPattern, parameters } from './refine-pattern.js';

type Refined = ast.Statement | ast.WorkflowEntry;

/** The top level. */
export function programBody(r: Refinement, list: List<CoverStatement> | null): Refined[] {
  const body = itemsOf(list).map((cover) => statement(r, cover));
  markDirectives(body as ast.Statement[]);
  return body;
}

/** The block of a function, with its directives marked. */
export function functionBody(r: Refinement, cover: Block): ast.BlockStatement {
  const node = block(r, cover);
  markDirectives(node.body);
  return node;
}

function block(r: Refinement, { open, body, close }: Block): ast.BlockStatement {
  return r.deeper(1, open.start, () => ({ type: 'BlockStatement', start: open.start, end: close.end, body: statements(r, body) }));
}

function statements(r: Refinement, list: List<CoverStatement> | null): ast.Statement[] {
  return itemsOf(list).map((cover) => inner(r, cover));
}

/** A statement below the top level, where no entry is allowed. */
function inner(r: Refinement, cover: CoverStatement): ast.Statement {
  const node = statement(r, cover);
  if (node.type !== 'WorkflowEntry') return node;
  r.report('FLOW_ENTRY_PLACE', node.start, node.start + 'workflow'.length);
  return node.body;
}

/** Leading strings; a string in parentheses is not one, as the offset of its statement shows. */
function markDirectives(body: ast.Statement[]): void {
  for (const node of body) {
    if (node.type !== 'ExpressionStatement') return;
    const { expression: value } = node;
    if (value.type !== 'Literal' || typeof value.value !== 'string' || value.start !== node.start) return;
    node.directive = value.raw.slice(1, -1);
  }
}

function statement(r: Refinement, cover: CoverStatement): Refined {
  switch (cover.type) {
    case 'nested':
      return nested(r, cover);
    case 'block':
      return block(r, cover);
    case 'function': {
      const id = identifier(r, cover.name as NonNullable<typeof cover.name>);
      const head = {
        type: 'FunctionDeclaration',
        start: startOf(cover),
        end: endOf(cover),
        id,
        expression: false,
        generator: false,
      } as const;
      return { ...head, async: cover.keyword.asyncStart >= 0, params: parameters(r, cover.params), body: functionBody(r, cover.body) };
    }
    case 'expressionStatement': {
      const { expression: value, semi } = cover;
      return { type: 'ExpressionStatement', start: startOf(value), end: semi.end, expression: expression(r, value) };
    }
    case 'declarationStatement':
      return { ...declaration(r, cover.declaration, true), end: cover.semi.end };
    case 'jumpStatement':
      return jump(r, cover);
    case 'tryStatement':
      return tryStatement(r, cover);
    case 'switchStatement':
      return switchStatement(r, cover);
    case 'doStatement':
      return r.deeper(1, cover.keyword.start, () => {
        const body = asBody(r, statement(r, cover.body), 'do');
        return { type: 'DoWhileStatement', start: cover.keyword.start, end: cover.semi.end, body, test: expression(r, cover.test) };
      });
    case 'entry': {
      const { keyword, params, body } = cover;
      return {
        type: 'WorkflowEntry',
        start: keyword.start,
        end: body.close.end,
        params: parameters(r, params),
        body: functionBody(r, body),
      };
    }
    default:
      return { type: 'EmptyStatement', start: cover.start, end: cover.end };
  }
}

function jump(r: Refinement, { keyword, argument, semi }: Extract<CoverStatement, { type: 'jumpStatement' }>): ast.Statement {
  const { start } = keyword;
  const { end } = semi;
  switch (keyword.raw) {
    case 'return':
      return { type: 'ReturnStatement', start, end, argument: argument && expression(r, argument) };
    case 'throw':
      if (argument) return { type: 'ThrowStatement', start, end, argument: expression(r, argument) };
      r.report('FLOW_THROW', start, keyword.end);
      return { type: 'EmptyStatement', start, end };
    case 'break':
      return { type: 'BreakStatement', start, end, label: argument && (expression(r, argument) as ast.Identifier) };
    default:
      return { type: 'ContinueStatement', start, end, label: argument && (expression(r, argument) as ast.Identifier) };
  }
}

function declaration(r: Refinement, { keyword, declarators }: Declaration, needsValues: boolean): ast.VariableDeclaration {
  const kind = keyword.raw as ast.VariableDeclaration['kind'];
  const declarations = itemsOf(declarators).map(({ target, init }): ast.VariableDeclarator => {
    const start = startOf(target);
    const id = bindingPattern(r, target);
    if (!init && needsValues) {
      if (id.type !== 'Identifier') r.report('FLOW_PATTERN_VALUE', start, endOf(target));
      else if (kind === 'const') r.report('FLOW_CONST_VALUE', start, endOf(target), { name: id.name });
    }
    return { type: 'VariableDeclarator', start, end: endOf(init ?? target), id, init: init && expression(r, init) };
  });
  return { type: 'VariableDeclaration', start: keyword.start, end: declarations[declarations.length - 1].end, declarations, kind };
}

function tryStatement(r: Refinement, cover: Extract<CoverStatement, { type: 'tryStatement' }>): ast.TryStatement {
  const { keyword, handler, finalizer } = cover;
  const tried = block(r, cover.block);
  let caught: ast.CatchClause | null = null;
  if (handler) {
    const param = handler.param && bindingPattern(r, handler.param);
    caught = { type: 'CatchClause', start: handler.keyword.start, end: handler.body.close.end, param, body: block(r, handler.body) };
  }
  const end = (finalizer ?? handler?.body ?? cover.block).close.end;
  return { type: 'TryStatement', start: keyword.start, end, block: tried, handler: caught, finalizer: finalizer && block(r, finalizer) };
}

function switchStatement(r: Refinement, cover: Extract<CoverStatement, { type: 'switchStatement' }>): ast.SwitchStatement {
  const { keyword, close } = cover;
  const discriminant = expression(r, cover.discriminant);
  let defaults = 0;
  const cases = r.deeper(1, keyword.start, () =>
    itemsOf(cover.cases).map(({ keyword: head, test, colon, body }): ast.SwitchCase => {
      if (!test) defaults += 1;
      if (!test && defaults === 2) r.report('FLOW_DEFAULT_TWICE', head.start, head.end);
      const consequent = statements(r, body);
      return {
        type: 'SwitchCase',
        start: head.start,
        end: consequent.at(-1)?.end ?? colon.end,
        test: test && expression(r, test),
        consequent,
      };
    }),
  );
  return { type: 'SwitchStatement', start: keyword.start, end: close.end, discriminant, cases };
}

// Heads: `if (…)`, `while (…)`, `for (…)`, `label:` before the statement they belong to

/** A head whose statement is being read; an `if` that has its `else` also has its first branch. */
type Pending = { head: Head; consequent: ast.Statement | null };

function nested(r: Refinement, cover: Nested): ast.Statement {
  const segments: CoverStatement[] = [];
  let at: CoverStatement = cover;
  for (; at.type === 'nested' && at.before; at = at.before) segments.push(at);
  segments.push(at);
  segments.reverse();
  const heads = segments.map((segment) => (segment.type === 'nested' ? itemsOf(segment.heads) : []));
  const levels = heads.reduce((sum, list) => sum + list.length, 0);
  const pending: Pending[] = [];
  return r.deeper(levels, segments.length > 0 && heads[0][0] ? headStart(heads[0][0]) : 0, () => {
    let current: Refined = { type: 'EmptyStatement', start: 0, end: 0 };
    segments.forEach((segment, i) => {
      if (i > 0) current = takeElse(r, segment as Nested, pending, current);
      for (const head of heads[i]) pending.push({ head, consequent: null });
      current = statement(r, segment.type === 'nested' ? segment.leaf : segment);
    });
    for (let top = pending.pop(); top; top = pending.pop()) current = close(r, top, current);
    return current as ast.Statement;
  });
}

/** Gives an `else` to the nearest `if` that has none, ending everything inside it. */
function takeElse(r: Refinement, segment: Nested, pending: Pending[], current: Refined): Refined {
  for (let top = pending.pop(); top; top = pending.pop()) {
    if (top.head.type === 'testHead' && top.head.keyword.raw === 'if' && !top.consequent) {
      pending.push({ head: top.head, consequent: asBody(r, current, 'if') });
      return current;
    }
    current = close(r, top, current);
  }
  const word = segment.else as NonNullable<Nested['else']>;
  r.report('FLOW_ELSE', word.start, word.end);
  return current;
}

function headStart(head: Head): number {
  return head.type === 'labelHead' ? head.name.start : head.keyword.start;
}

function close(r: Refinement, { head, consequent }: Pending, current: Refined): ast.Statement {
  const start = headStart(head);
  const { end } = current;
  if (head.type === 'labelHead') {
    const label = identifier(r, head.name);
    return { type: 'LabeledStatement', start, end, label, body: asBody(r, current, `the label ${label.name}`) };
  }
  const body = asBody(r, current, consequent ? 'else' : head.keyword.raw);
  switch (head.type) {
    case 'testHead': {
      const test = expression(r, head.test);
      if (head.keyword.raw !== 'if') return { type: 'WhileStatement', start, end, test, body };
      return { type: 'IfStatement', start, end, test, consequent: consequent ?? body, alternate: consequent && body };
    }
    case 'forHead': {
      const { init, test, update } = head;
      const first = init && (init.type === 'declaration' ? declaration(r, init, true) : expression(r, init));
      return {
        type: 'ForStatement',
        start,
        end,
        init: first,
        test: test && expression(r, test),
        update: update && expression(r, update),
        body,
      };
    }
    case 'forEachHead': {
      const left = forLeft(r, head.left);
      const right = expression(r, head.right);
      if (head.of.type === 'forIn') return { type: 'ForInStatement', start, end, left, right, body };
      return { type: 'ForOfStatement', start, end, await: false, left, right, body };
    }
  }
}

function forLeft(r: Refinement, left: Extract<Head, { type: 'forEachHead' }>['left']): ast.VariableDeclaration | ast.Pattern {
  if (left.type !== 'forBinding') return assignmentTarget(r, left);
  const { keyword, target } = left;
  const end = endOf(target);
  const declarator: ast.VariableDeclarator = {
    type: 'VariableDeclarator',
    start: startOf(target),
    end,
    id: bindingPattern(r, target),
    init: null,
  };
  return { type: 'VariableDeclaration', start: keyword.start, end, declarations: [declarator], kind: keyword.raw as 'let' };
}

/** A declaration needs a block of its own around it. */
function asBody(r: Refinement, node: Refined, name: string): ast.Statement {
  if (node.type === 'WorkflowEntry') {
    r.report('FLOW_ENTRY_PLACE', node.start, node.start + 'workflow'.length);
    return node.body;
  }
  const lexical = node.type === 'VariableDeclaration' && node.kind !== 'var';
  if (lexical || node.type === 'FunctionDeclaration') r.report('FLOW_BODY', node.start, node.end, { name });
  return node;
}
