// Builds the scope tree of a syntax tree, ties every identifier to its variable and reports names that do not add up.

import { type Diagnostic, diagnosticAt, type Fault } from '../errors.js';
import type {
  BlockStatement,
  CatchClause,
  Expression,
  ForInStatement,
  ForOfStatement,
  ForStatement,
  FunctionNode,
  Identifier,
  MemberExpression,
  Node,
  Pattern,
  Program,
  Property,
  SpreadElement,
  Statement,
  SwitchStatement,
  UnaryExpression,
  WorkflowEntry,
} from '../parse/ast.js';
import { LineMap } from '../parse/line-map.js';
import { JAVASCRIPT_GLOBALS } from './javascript-globals.js';
import { nearestName } from './nearest-name.js';
import { Binding, type BindingKind, FunctionScope, type Reference, type Resolution, Scope } from './scope.js';

export interface ResolveOptions {
  readonly source: string;
  readonly file: string;
  /** Names that every flow sees. */
  readonly globals: ReadonlySet<string>;
  /** The members of such a name, when they are known: `Math.mx` is a slip that need not wait for its run. */
  readonly membersOf: (global: string) => ReadonlySet<string> | undefined;
}

// The older spellings are ordinary words; a parameter called `task` must not be refused for their sake.
const MAY_BE_SHADOWED: ReadonlySet<string> = new Set(['task', 'sleep']);

const ELSEWHERE: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  setTimeout: 'Write await Timer.sleep("5s"): it survives restarts.',
  setInterval: 'Write a loop with await Timer.sleep("5s") in it.',
  fetch: 'A flow does no I/O: call it in a task and write await Task.run("name", input).',
  require: 'A flow imports nothing: put the code into a task and write await Task.run("name", input).',
  process: 'A flow cannot see the host: pass what it needs as Inputs.',
  Buffer: 'A flow cannot see the host: convert bytes in a task.',
  globalThis: 'There is no global object: use the names themselves.',
  window: 'There is no global object: use the names themselves.',
  queueMicrotask: 'Write Promise.resolve().then(fn).',
  Symbol: 'Symbols are not supported: use string keys.',
  BigInt: 'BigInt is not supported: use numbers, or strings for long ids.',
  RegExp: 'Regular expressions are not supported: use string methods.',
  WeakMap: 'Use Map: a flow lives in its snapshot, so nothing is weak.',
  WeakSet: 'Use Set: a flow lives in its snapshot, so nothing is weak.',
  Proxy: 'Proxies are not supported: write a function.',
  Reflect: 'Use the functions of Object.',
  Intl: 'Locale-dependent formatting is not supported: do it in a task.',
});

export function resolve(ast: Program, options: ResolveOptions): { resolution: Resolution; diagnostics: Diagnostic[] } {
  const resolver = new Resolver(ast, options);
  resolver.program(ast);
  return { resolution: resolver, diagnostics: resolver.diagnostics };
}

class Resolver implements Resolution {
  readonly scopes = new Map<Node, Scope>();
  readonly parameterScopes = new Map<Node, Scope>();
  readonly references = new Map<Identifier, Reference>();
  readonly nowhere = new Set<Identifier>();
  readonly diagnostics: Diagnostic[] = [];
  readonly root: Scope;
  private scope: Scope;
  private readonly lines: LineMap;
  /** Variables of a `for…of/in` head while its right side is resolved: they are declared but never initialised there. */
  private readonly headBindings = new Set<Binding>();

  constructor(
    ast: Program,
    private readonly options: ResolveOptions,
  ) {
    this.lines = new LineMap(options.source);
    this.root = new Scope(null, new FunctionScope(ast, null));
    this.scope = this.root;
    // `Inputs` is a variable of the main body, so that it leaves the snapshot when nothing reads it any more.
    this.root.bindings.set('Inputs', new Binding('Inputs', 'inputs', this.root, -1, -1));
  }

  program(ast: Program): void {
    this.within(this.open(ast), () => {
      this.hoist(ast.body);
      for (const each of ast.body) if (each.type !== 'WorkflowEntry') this.statement(each);
      for (const each of ast.body) if (each.type === 'WorkflowEntry') this.workflow(each);
    });
  }

  /** The entry is part of the main body: its parameters are variables there. */
  private workflow(node: WorkflowEntry): void {
    const parameters = new Scope(this.scope, this.scope.fn);
    this.parameterScopes.set(node, parameters);
    this.within(parameters, () => {
      for (const each of node.params) this.declarePattern(each, 'parameter', each.end);
      for (const each of node.params) this.pattern(each);
      this.within(this.open(node.body), () => {
        this.hoist(node.body.body, parameters, true);
        for (const each of node.body.body) this.statement(each);
      });
    });
  }

  private open(node: Node, jumpy = false): Scope {
    const scope = new Scope(this.scope, this.scope.fn, jumpy);
    this.scopes.set(node, scope);
    return scope;
  }

  private within(scope: Scope, work: () => void): void {
    const outer = this.scope;
    this.scope = scope;
    work();
    this.scope = outer;
  }

  // Declarations ------------------------------------------------------------------------------------------------------

  /** Declares what a statement list declares, before any of it runs. `parameters` are those of a function or catch around it. */
  private hoist(body: readonly (Statement | WorkflowEntry)[], parameters?: Scope, isFunctionBody = false): void {
    for (const each of body) {
      if (each.type === 'FunctionDeclaration') {
        if (isFunctionBody) this.declareBodyFunction(each.id);
        else this.declare(each.id, 'function', this.scope, -1, parameters);
      } else if (each.type === 'VariableDeclaration') {
        for (const one of each.declarations) this.declarePattern(one.id, each.kind === 'let' ? 'let' : 'const', one.end, parameters);
      } else if (each.type === 'LabeledStatement') this.hoist([each.body], parameters);
    }
  }

  /** A function directly in the body of another one: there the last of several counts, and it hides a parameter of its name. */
  private declareBodyFunction(id: Identifier): void {
    const twin = this.scope.bindings.get(id.name);
    if (twin?.kind === 'function') this.references.set(id, { binding: twin, mayBeEarly: false });
    else this.declare(id, 'function', this.scope, -1);
  }

  private declarePattern(pattern: Pattern, kind: BindingKind, initializedAt: number, parameters?: Scope): void {
    switch (pattern.type) {
      case 'Identifier':
        this.declare(pattern, kind, this.scope, initializedAt, parameters);
        return;
      case 'ArrayPattern':
        for (const each of pattern.elements) if (each) this.declarePattern(each, kind, initializedAt, parameters);
        return;
      case 'ObjectPattern':
        for (const each of pattern.properties)
          this.declarePattern(each.type === 'RestElement' ? each.argument : each.value, kind, initializedAt, parameters);
        return;
      case 'AssignmentPattern':
        this.declarePattern(pattern.left, kind, initializedAt, parameters);
        return;
      case 'RestElement':
        this.declarePattern(pattern.argument, kind, initializedAt, parameters);
        return;
    }
  }

  private declare(id: Identifier, kind: BindingKind, scope: Scope, initializedAt: number, parameters?: Scope): Binding {
    const { name } = id;
    const twin = scope.bindings.get(name) ?? parameters?.bindings.get(name);
    if (twin && twin.kind !== 'functionName') {
      this.report(id, 'FLOW_REDECLARED', `"${name}" is already declared here.`, `Use another name, or assign to it: ${name} = ….`);
    } else if ((this.options.globals.has(name) || name === 'Inputs') && !MAY_BE_SHADOWED.has(name)) {
      this.report(id, 'FLOW_BUILT_IN_NAME', `"${name}" is a built-in name and cannot be declared again.`, 'Use another name.');
    }
    const binding = new Binding(name, kind, scope, id.start, initializedAt);
    scope.bindings.set(name, binding);
    // The declaring identifier means its own variable, for the compiler; initialising it is never early.
    this.references.set(id, { binding, mayBeEarly: false });
    return binding;
  }

  // Statements --------------------------------------------------------------------------------------------------------

  private statement(node: Statement): void {
    switch (node.type) {
      case 'BlockStatement':
        return this.block(node);
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'EmptyStatement':
        return;
      case 'DoWhileStatement':
        this.statement(node.body);
        return this.expression(node.test);
      case 'ExpressionStatement':
        return this.expression(node.expression);
      case 'ForInStatement':
      case 'ForOfStatement':
        return this.forEach(node);
      case 'ForStatement':
        return this.forLoop(node);
      case 'FunctionDeclaration':
        return this.functionBody(node);
      case 'IfStatement':
        this.expression(node.test);
        this.statement(node.consequent);
        if (node.alternate) this.statement(node.alternate);
        return;
      case 'LabeledStatement':
        return this.statement(node.body);
      case 'ReturnStatement':
        if (node.argument) this.expression(node.argument);
        return;
      case 'SwitchStatement':
        return this.switch(node);
      case 'ThrowStatement':
        return this.expression(node.argument);
      case 'TryStatement':
        this.block(node.block);
        if (node.handler) this.catch(node.handler);
        if (node.finalizer) this.block(node.finalizer);
        return;
      case 'VariableDeclaration':
        for (const each of node.declarations) {
          this.pattern(each.id);
          if (each.init) this.expression(each.init);
        }
        return;
      case 'WhileStatement':
        this.expression(node.test);
        return this.statement(node.body);
    }
  }

  private block(node: BlockStatement, parameters?: Scope, isFunctionBody = false): void {
    this.within(this.open(node), () => {
      this.hoist(node.body, parameters, isFunctionBody);
      for (const each of node.body) this.statement(each);
    });
  }

  private catch(node: CatchClause): void {
    this.within(this.open(node), () => {
      if (node.param) {
        this.declarePattern(node.param, 'catch', node.param.end);
        this.pattern(node.param);
      }
      this.block(node.body, this.scope);
    });
  }

  private switch(node: SwitchStatement): void {
    this.expression(node.discriminant);
    this.within(this.open(node, true), () => {
      for (const each of node.cases) this.hoist(each.consequent);
      for (const each of node.cases) {
        if (each.test) this.expression(each.test);
        for (const one of each.consequent) this.statement(one);
      }
    });
  }

  private forLoop(node: ForStatement): void {
    this.within(this.open(node), () => {
      if (node.init?.type === 'VariableDeclaration') {
        this.hoist([node.init]);
        this.statement(node.init);
      } else if (node.init) this.expression(node.init);
      if (node.test) this.expression(node.test);
      if (node.update) this.expression(node.update);
      this.statement(node.body);
    });
  }

  private forEach(node: ForInStatement | ForOfStatement): void {
    this.within(this.open(node), () => {
      if (node.left.type === 'VariableDeclaration') {
        const { kind, declarations } = node.left;
        this.declarePattern(declarations[0].id, kind === 'let' ? 'let' : 'const', declarations[0].end);
        for (const each of this.scope.bindings.values()) this.headBindings.add(each);
        this.expression(node.right);
        for (const each of this.scope.bindings.values()) this.headBindings.delete(each);
        this.pattern(declarations[0].id);
      } else {
        this.assignmentTarget(node.left);
        this.expression(node.right);
      }
      this.statement(node.body);
    });
  }

  // Functions ---------------------------------------------------------------------------------------------------------

  private functionBody(node: FunctionNode): void {
    const fn = new FunctionScope(node, this.scope.fn);
    const parameters = new Scope(this.scope, fn);
    this.parameterScopes.set(node, parameters);
    this.within(parameters, () => {
      if (node.type === 'FunctionExpression' && node.id) this.declare(node.id, 'functionName', parameters, -1);
      for (const each of node.params) this.declarePattern(each, 'parameter', each.end);
      for (const each of node.params) this.pattern(each);
      if (node.body.type === 'BlockStatement') this.block(node.body, parameters, true);
      else this.expression(node.body);
    });
  }

  // Patterns and expressions ------------------------------------------------------------------------------------------

  /** Resolves what a declared pattern evaluates: defaults and computed keys. */
  private pattern(pattern: Pattern): void {
    switch (pattern.type) {
      case 'Identifier':
        return;
      case 'ArrayPattern':
        for (const each of pattern.elements) if (each) this.pattern(each);
        return;
      case 'ObjectPattern':
        for (const each of pattern.properties) {
          if (each.type === 'RestElement') this.pattern(each.argument);
          else {
            if (each.computed) this.expression(each.key);
            this.pattern(each.value);
          }
        }
        return;
      case 'AssignmentPattern':
        this.pattern(pattern.left);
        return this.expression(pattern.right);
      case 'RestElement':
        return this.pattern(pattern.argument);
      case 'MemberExpression':
        return this.expression(pattern);
    }
  }

  private assignmentTarget(target: Pattern): void {
    switch (target.type) {
      case 'Identifier':
        return this.assigned(target);
      case 'MemberExpression':
        if (this.isBuiltIn(target.object)) return this.changedBuiltIn(target);
        this.expression(target.object);
        if (target.computed) this.expression(target.property);
        return;
      case 'ArrayPattern':
        for (const each of target.elements) if (each) this.assignmentTarget(each);
        return;
      case 'ObjectPattern':
        for (const each of target.properties) {
          if (each.type === 'RestElement') this.assignmentTarget(each.argument);
          else {
            if (each.computed) this.expression(each.key);
            this.assignmentTarget(each.value);
          }
        }
        return;
      case 'AssignmentPattern':
        this.assignmentTarget(target.left);
        return this.expression(target.right);
      case 'RestElement':
        return this.assignmentTarget(target.argument);
    }
  }

  private assigned(id: Identifier): void {
    const binding = this.scope.find(id.name);
    if (binding?.kind === 'inputs' || (!binding && this.options.globals.has(id.name))) {
      this.report(
        id,
        'FLOW_BUILT_IN_NAME',
        `"${id.name}" is a built-in name and cannot be assigned.`,
        'Declare a variable with another name.',
      );
      return;
    }
    if (binding?.isConstant) {
      const advice = binding.kind === 'const' ? `Declare it with let ${id.name} = … if it must change.` : 'Use another variable.';
      this.report(id, 'FLOW_CONST_ASSIGNMENT', `"${id.name}" is a constant and cannot be assigned.`, advice);
    }
    this.reference(id);
  }

  private reference(id: Identifier): void {
    const binding = this.scope.find(id.name);
    if (!binding) {
      if (!this.options.globals.has(id.name)) this.undeclared(id);
      return;
    }
    const { fn } = this.scope;
    const foreign = binding.scope.fn !== fn;
    if (foreign) fn.capture(binding);
    const mayBeEarly = foreign || binding.scope.jumpy || id.start < binding.initializedAt || this.headBindings.has(binding);
    if (mayBeEarly) binding.usedEarly = true;
    this.references.set(id, { binding, mayBeEarly });
  }

  private undeclared(id: Identifier): void {
    const nearest = nearestName(id.name, [...this.scope.visibleNames(), ...this.options.globals]);
    const advice = ELSEWHERE[id.name] ?? (nearest ? `Did you mean ${nearest}?` : `Declare it first: let ${id.name} = ….`);
    this.report(id, 'FLOW_UNDECLARED', `"${id.name}" is not declared.`, advice);
  }

  private builtInMember(object: Identifier, member: Identifier): void {
    if (this.scope.find(object.name)) return;
    const members = this.options.membersOf(object.name);
    if (!members || members.has(member.name)) return;
    const nearest = nearestName(member.name, members);
    const advice = nearest ? `Did you mean ${object.name}.${nearest}?` : `It has ${listed([...members])}.`;
    this.report(member, 'FLOW_NO_MEMBER', `${object.name} has no "${member.name}" in Flow.`, advice);
  }

  private isBuiltIn(object: Expression): object is Identifier {
    return object.type === 'Identifier' && !this.scope.find(object.name) && this.options.membersOf(object.name) !== undefined;
  }

  /** `JSON.x = 1`, `delete Math.PI`: all runs share the built-ins. */
  private changedBuiltIn({ object, property, computed }: MemberExpression): void {
    const message = `${(object as Identifier).name} is built in: its properties cannot be set or deleted.`;
    this.report(property, 'FLOW_BUILT_IN_CHANGE', message, 'Keep the value in a variable or in an object of your own.');
    if (computed) this.expression(property);
  }

  private expression(node: Expression): void {
    switch (node.type) {
      case 'Identifier':
        return this.reference(node);
      case 'Literal':
      case 'MetaProperty':
      case 'ThisExpression':
        return;
      case 'ArrayExpression':
        return this.list(node.elements);
      case 'ArrowFunctionExpression':
      case 'FunctionExpression':
        return this.functionBody(node);
      case 'AssignmentExpression':
        this.assignmentTarget(node.left);
        return this.expression(node.right);
      case 'AwaitExpression':
        return this.expression(node.argument);
      case 'UnaryExpression':
        return this.unary(node);
      case 'BinaryExpression':
      case 'LogicalExpression':
        // A long chain of operators leans to the left: walk it without host recursion.
        return this.leftChain(node);
      case 'CallExpression':
      case 'NewExpression':
        this.expression(node.callee);
        return this.list(node.arguments);
      case 'ChainExpression':
        return this.expression(node.expression);
      case 'ConditionalExpression':
        this.expression(node.test);
        this.expression(node.consequent);
        return this.expression(node.alternate);
      case 'MemberExpression':
        this.expression(node.object);
        if (node.computed) this.expression(node.property);
        else if (node.object.type === 'Identifier' && node.property.type === 'Identifier') this.builtInMember(node.object, node.property);
        return;
      case 'ObjectExpression':
        for (const each of node.properties) this.property(each);
        return;
      case 'SequenceExpression':
        return this.list(node.expressions);
      case 'TaggedTemplateExpression':
        this.expression(node.tag);
        return this.list(node.quasi.expressions);
      case 'TemplateLiteral':
        return this.list(node.expressions);
      case 'UpdateExpression':
        return this.assignmentTarget(node.argument);
    }
  }

  private unary({ operator, argument }: UnaryExpression): void {
    if (operator === 'typeof' && argument.type === 'Identifier' && this.isNowhere(argument.name)) this.nowhere.add(argument);
    else if (operator === 'delete') {
      const member = argument.type === 'ChainExpression' ? argument.expression : argument;
      if (member.type !== 'MemberExpression' || !this.isBuiltIn(member.object)) this.expression(argument);
      else this.changedBuiltIn(member);
    } else this.expression(argument);
  }

  /** Declared neither by the flow nor by JavaScript nor by a host of it: only of such a name `typeof` is certainly "undefined". */
  private isNowhere(name: string): boolean {
    return !this.scope.find(name) && !this.options.globals.has(name) && !JAVASCRIPT_GLOBALS.has(name) && ELSEWHERE[name] === undefined;
  }

  private leftChain(node: Expression): void {
    const rights: Expression[] = [];
    let left = node;
    while (left.type === 'BinaryExpression' || left.type === 'LogicalExpression') {
      rights.push(left.right);
      left = left.left;
    }
    this.expression(left);
    for (const each of rights.reverse()) this.expression(each);
  }

  private list(nodes: readonly (Expression | SpreadElement | null)[]): void {
    for (const each of nodes) if (each) this.expression(each.type === 'SpreadElement' ? each.argument : each);
  }

  private property(node: Property | SpreadElement): void {
    if (node.type === 'SpreadElement') return this.expression(node.argument);
    if (node.computed) this.expression(node.key);
    this.expression(node.value);
  }

  private report(node: Node, code: string, message: string, advice: string): void {
    const fault: Fault = { code, message, advice, start: node.start, end: node.end };
    this.diagnostics.push(diagnosticAt(this.lines, this.options.file, fault));
  }
}

function listed(names: readonly string[]): string {
  return names.length <= 8 ? names.join(', ') : `${names.slice(0, 8).join(', ')} and ${names.length - 8} more`;
}
