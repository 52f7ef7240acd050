// The state of one resolution: the current scope, what is declared and referred to, and the faults found.

import { type Fault, faultOf, type Report } from '../diagnostics/fault.js';
import { nearestName } from '../nearest-name.js';
import type { Expression, Identifier, MemberExpression, Node, Pattern, Program } from '../parse/ast.js';
import { walkPattern } from '../parse/walk-pattern.js';
import { JAVASCRIPT_GLOBALS } from './javascript-globals.js';
import { ADVICE_FOR_GLOBAL } from './missing-globals.js';
import { Binding, type BindingKind, FunctionScope, type Reference, type Resolution, Scope } from './scope.js';

/** The built-in names that every flow sees. */
export interface BuiltInNames {
  readonly globals: ReadonlySet<string>;
  /** The members of such a name, when they are known, so that `Math.mx` is refused before a run. */
  readonly membersOf: (global: string) => ReadonlySet<string> | undefined;
}

// The older spellings are ordinary words; a parameter called `task` must not be refused because of them.
const MAY_BE_SHADOWED: ReadonlySet<string> = new Set(['task', 'sleep']);
const MOST_NAMES_SHOWN = 8;

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
    if (existing && existing.kind !== 'functionName') this.report('FLOW_REDECLARED', id, { name });
    else if ((this.builtIn.globals.has(name) || name === 'Inputs') && !MAY_BE_SHADOWED.has(name))
      this.report('FLOW_BUILT_IN_NAME', id, { name, done: 'declared again', hint: 'Use another name.' });
    const binding = new Binding(name, kind, this.scope, id.start, initializedAt);
    this.scope.bindings.set(name, binding);
    // The declaring identifier refers to its own variable, for the compiler; initialising it is never early.
    this.references.set(id, { binding, mayBeEarly: false });
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
    this.refer(id);
  }

  /** `object.member`, where `object` may be built in. */
  referMember(object: Identifier, member: Identifier): void {
    if (this.scope.find(object.name)) return;
    const members = this.builtIn.membersOf(object.name);
    if (!members || members.has(member.name)) return;
    const nearest = nearestName(member.name, members);
    const hint = nearest ? `Did you mean ${object.name}.${nearest}?` : `It has ${shown([...members])}.`;
    this.report('FLOW_NO_MEMBER', member, { name: object.name, member: member.name, hint });
  }

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
    const nearest = nearestName(name, [...this.scope.visibleNames(), ...this.builtIn.globals]);
    const hint = ADVICE_FOR_GLOBAL.get(name) ?? (nearest ? `Did you mean ${nearest}?` : `Declare it first: let ${name} = ….`);
    this.report('FLOW_UNDECLARED', id, { name, hint });
  }

  private readonly report: Report = (code, { start, end }, words) => {
    this.faults.push(faultOf(code, start, end, words));
  };
}

function shown(names: readonly string[]): string {
  if (names.length <= MOST_NAMES_SHOWN) return names.join(', ');
  return `${names.slice(0, MOST_NAMES_SHOWN).join(', ')} and ${names.length - MOST_NAMES_SHOWN} more`;
}
