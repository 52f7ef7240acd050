// The state of one resolution: the current scope, what is declared and referred to, and the faults found.

import type { DiagnosticCode } from '../diagnostics/codes.js';
import { type Fault, faultOf, type Report } from '../diagnostics/fault.js';
import { nearestName } from '../nearest-name.js';
import type { Expression, Identifier, MemberExpression, Node, Pattern, Program, VariableDeclarator } from '../parse/ast.js';
import { walkPattern } from '../parse/walk-pattern.js';
import { JAVASCRIPT_GLOBALS } from './javascript-globals.js';
import { ADVICE_FOR_GLOBAL } from './missing-globals.js';
import { ADVICE_FOR_MEMBER, ADVICE_FOR_STATIC, DO_IT_IN_A_TASK } from './missing-members.js';
import { Binding, type BindingKind, FunctionScope, type Reference, type Resolution, Scope } from './scope.js';
import { builtInName, type SeenType, seenType } from './seen-type.js';

/** The built-in names that every flow sees. */
export interface BuiltInNames {
  readonly globals: ReadonlySet<string>;
  /** The members of such a name, when they are known, so that `Math.mx` is refused before a run. */
  readonly membersOf: (global: string) => ReadonlySet<string> | undefined;
  /** What JavaScript has on such a name and Flow does not. */
  readonly unsupportedOf: (global: string) => ReadonlySet<string>;
  /** What the values of a type have, and what they have in JavaScript only. */
  readonly typeMembers: (type: SeenType) => { known: ReadonlySet<string>; unsupported: ReadonlySet<string> };
}

// The older spellings are ordinary words; a parameter called `task` must not be refused because of them.
const MAY_BE_SHADOWED: ReadonlySet<string> = new Set(['task', 'sleep']);
const MOST_NAMES_SHOWN = 8;
/** The checker refuses these words, whether they are declared or not. */
const REFUSED_WORDS: ReadonlySet<string> = new Set(['eval', 'arguments']);
const LOCALE = /^(?:toLocale\w*|localeCompare)$/;
/** Nobody throws a value with a property of this name of its own. */
const OF_ANY_ERROR: ReadonlySet<string> = new Set(['constructor', '__proto__']);

export class Resolver implements Resolution {
  readonly scopes = new Map<Node, Scope>();
  readonly parameterScopes = new Map<Node, Scope>();
  readonly references = new Map<Identifier, Reference>();
  readonly undeclaredTypeofs = new Set<Identifier>();
  readonly faults: Fault[] = [];
  readonly root: Scope;
  /** The innermost scope at this point of the walk. */
  scope: Scope;
  /** Variables of a `for…of/in` head while its right side is resolved: they are declared but never initialised there. */
  readonly headBindings = new Set<Binding>();
  /** Names declared with `var`. That is refused; what follows from it is not reported besides. */
  private readonly vars = new Set<string>();
  /** Faults about names, reported at the end unless the name was declared with `var`. */
  private readonly aboutNames: { name: string; fault: Fault }[] = [];
  /** Members that the flow assigns somewhere: they may be properties of its own. */
  private readonly assignedMembers = new Set<string>();
  /** Members of variables, judged when it is known which variables are assigned. */
  private readonly membersOfVariables: { binding: Binding; member: Identifier }[] = [];

  constructor(
    ast: Program,
    private readonly builtIn: BuiltInNames,
  ) {
    this.root = new Scope(null, new FunctionScope(ast, null));
    this.scope = this.root;
    // `Inputs` is a variable of the main body, so that it leaves the snapshot when nothing reads it any more.
    this.root.bindings.set('Inputs', new Binding('Inputs', 'inputs', this.root, -1, -1));
  }

  /** The scope that `node` opens inside the current one. */
  open(node: Node, isSwitch = false): Scope {
    const scope = new Scope(this.scope, this.scope.fn, isSwitch);
    this.scopes.set(node, scope);
    return scope;
  }

  within(scope: Scope, work: () => void): void {
    const outer = this.scope;
    this.scope = scope;
    work();
    this.scope = outer;
  }

  // Declarations ------------------------------------------------------------------------------------------------------

  /** `parameters` are those of a function or catch around the current scope, whose names are taken too. */
  declare(id: Identifier, kind: BindingKind, initializedAt: number, parameters?: Scope): void {
    const { name } = id;
    const existing = this.scope.bindings.get(name) ?? parameters?.bindings.get(name);
    if (existing && existing.kind !== 'functionName') this.reportName('FLOW_REDECLARED', id, { name });
    else if ((this.builtIn.globals.has(name) || name === 'Inputs') && !MAY_BE_SHADOWED.has(name))
      this.report('FLOW_BUILT_IN_NAME', id, { name, done: 'declared again', hint: 'Use another name.' });
    const binding = new Binding(name, kind, this.scope, id.start, initializedAt);
    this.scope.bindings.set(name, binding);
    // The declaring identifier refers to its own variable, for the compiler; initialising it is never early.
    this.references.set(id, { binding, mayBeEarly: false });
  }

  /** `const fetchAll = …`: what the variable is given shows its type. */
  declareVariable({ id, init }: VariableDeclarator, kind: BindingKind, parameters?: Scope): void {
    this.declarePattern(id, kind, init?.end ?? id.end, parameters);
    if (id.type === 'Identifier') this.references.get(id)!.binding.init = init;
  }

  /** `var` is refused: its names count as declared, so that nothing else is reported because of them. */
  declareVars(pattern: Pattern, parameters?: Scope): void {
    walkPattern(pattern, { name: ({ name }) => this.vars.add(name) });
    this.declarePattern(pattern, 'let', -1, parameters);
  }

  declarePattern(pattern: Pattern, kind: BindingKind, initializedAt: number, parameters?: Scope): void {
    walkPattern(pattern, { name: (id) => this.declare(id, kind, initializedAt, parameters) });
  }

  /** A function directly in the body of another one: there the last of several wins, and it hides a parameter of its name. */
  declareBodyFunction(id: Identifier): void {
    const existing = this.scope.bindings.get(id.name);
    if (existing?.kind === 'function') this.references.set(id, { binding: existing, mayBeEarly: false });
    else this.declare(id, 'function', -1);
  }

  // Uses --------------------------------------------------------------------------------------------------------------

  /** A name that is read. */
  refer(id: Identifier): void {
    const binding = this.scope.find(id.name);
    if (!binding) {
      if (!this.builtIn.globals.has(id.name)) this.refuseUndeclared(id);
      return;
    }
    const { fn } = this.scope;
    const fromOutside = binding.scope.fn !== fn;
    if (fromOutside) fn.capture(binding);
    const mayBeEarly = fromOutside || binding.scope.isSwitch || id.start < binding.initializedAt || this.headBindings.has(binding);
    if (mayBeEarly) binding.usedEarly = true;
    this.references.set(id, { binding, mayBeEarly });
  }

  /** A name that is assigned. */
  assign(id: Identifier): void {
    const { name } = id;
    const binding = this.scope.find(name);
    if (binding?.kind === 'inputs' || (!binding && this.builtIn.globals.has(name))) {
      this.report('FLOW_BUILT_IN_NAME', id, { name, done: 'assigned', hint: 'Declare a variable with another name.' });
      return;
    }
    if (binding?.isConstant) {
      const hint = binding.kind === 'const' ? `Declare it with let ${name} = … if it must change.` : 'Use another variable.';
      this.report('FLOW_CONST_ASSIGNMENT', id, { name, hint });
    }
    if (binding) binding.assigned = true;
    this.refer(id);
  }

  /** `object.member`, where the source may show what `object` is. */
  referMember(object: Expression, member: Identifier): void {
    if (object.type !== 'Identifier') return this.referMemberOfValue(object, member);
    const binding = this.scope.find(object.name);
    if (binding) {
      if (binding.kind === 'const' || binding.kind === 'function' || binding.kind === 'catch')
        this.membersOfVariables.push({ binding, member });
      return;
    }
    const members = this.builtIn.membersOf(object.name);
    if (!members || members.has(member.name)) return;
    this.refuseMember(object.name, member, members, this.builtIn.unsupportedOf(object.name), `${object.name}.`);
  }

  private referMemberOfValue(object: Expression, member: Identifier): void {
    const type = seenType(object, this.isUndeclared);
    if (type === undefined) return;
    const { known, unsupported } = this.builtIn.typeMembers(type);
    if (type === 'promise' && object.type === 'CallExpression' && !known.has(member.name)) {
      const name = builtInName(object.callee, this.isUndeclared);
      this.report('FLOW_PROMISE_MEMBER', member, { name: name ?? 'the call', member: member.name });
    } else if (unsupported.has(member.name))
      this.refuseMember(type === 'array' || type === 'error' ? `an ${type}` : `a ${type}`, member, known, unsupported, '');
  }

  assignMember({ property, computed }: MemberExpression): void {
    if (!computed && property.type === 'Identifier') this.assignedMembers.add(property.name);
  }

  /** After the whole tree: a variable that is never assigned again has the type that its declaration shows. */
  finish(): void {
    for (const { binding, member } of this.membersOfVariables) {
      if (binding.assigned || this.vars.has(binding.name) || this.assignedMembers.has(member.name)) continue;
      const type =
        binding.kind === 'function' ? 'function' : binding.init ? seenType(binding.init, (name) => !binding.scope.find(name)) : undefined;
      const isCaught = binding.kind === 'catch' && OF_ANY_ERROR.has(member.name);
      const { known, unsupported } = this.builtIn.typeMembers(type ?? 'error');
      if (isCaught || (type !== undefined && unsupported.has(member.name))) this.refuseMember(binding.name, member, known, unsupported, '');
    }
    for (const { name, fault } of this.aboutNames) if (!this.vars.has(name)) this.faults.push(fault);
  }

  private refuseMember(
    name: string,
    member: Identifier,
    known: ReadonlySet<string>,
    unsupported: ReadonlySet<string>,
    prefix: string,
  ): void {
    const advice = ADVICE_FOR_STATIC.get(prefix + member.name) ?? ADVICE_FOR_MEMBER.get(member.name);
    // The checker refuses these wherever they are called.
    if (LOCALE.test(member.name)) return;
    // A name of JavaScript is no typo of another.
    const nearest = unsupported.has(member.name) ? undefined : nearestName(member.name, known);
    const others = unsupported.has(member.name) ? DO_IT_IN_A_TASK : `It has ${shown([...known])}.`;
    const hint = advice ?? (nearest ? `Did you mean ${prefix}${nearest}?` : others);
    this.report('FLOW_NO_MEMBER', member, { name, member: member.name, hint });
  }

  private readonly isUndeclared = (name: string): boolean => !this.scope.find(name);

  isBuiltIn(object: Expression): object is Identifier {
    return object.type === 'Identifier' && !this.scope.find(object.name) && this.builtIn.membersOf(object.name) !== undefined;
  }

  /** `JSON.x = 1`, `delete Math.PI`: all runs share the built-ins. */
  refuseBuiltInChange({ object, property }: MemberExpression): void {
    this.report('FLOW_BUILT_IN_CHANGE', property, { name: (object as Identifier).name });
  }

  /** Declared neither by the flow nor by JavaScript or Node: only for such a name is `typeof` certainly "undefined". */
  isDeclaredNowhere(name: string): boolean {
    return !this.scope.find(name) && !this.builtIn.globals.has(name) && !JAVASCRIPT_GLOBALS.has(name) && !ADVICE_FOR_GLOBAL.has(name);
  }

  private refuseUndeclared(id: Identifier): void {
    const { name } = id;
    if (REFUSED_WORDS.has(name)) return;
    const nearest = nearestName(name, [...this.scope.visibleNames(), ...this.builtIn.globals]);
    const hint = ADVICE_FOR_GLOBAL.get(name) ?? (nearest ? `Did you mean ${nearest}?` : `Declare it first: let ${name} = ….`);
    this.reportName('FLOW_UNDECLARED', id, { name, hint });
  }

  private reportName(code: DiagnosticCode, { start, end }: Identifier, words: { name: string } & Record<string, string>): void {
    this.aboutNames.push({ name: words.name, fault: faultOf(code, start, end, words) });
  }

  private readonly report: Report = (code, { start, end }, words) => {
    this.faults.push(faultOf(code, start, end, words));
  };
}

function shown(names: readonly string[]): string {
  if (names.length <= MOST_NAMES_SHOWN) return names.join(', ');
  return `${names.slice(0, MOST_NAMES_SHOWN).join(', ')} and ${names.length - MOST_NAMES_SHOWN} more`;
}
