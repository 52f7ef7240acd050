// Scopes and the variables they declare, as the compiler sees them.

import type { Expression, FunctionNode, Identifier, Node, Program } from '../parse/ast.js';

export type BindingKind = 'let' | 'const' | 'function' | 'parameter' | 'catch' | 'functionName' | 'inputs';

/** One declared variable. */
export class Binding {
  /** A nested function uses it, so it lives in a cell. */
  captured = false;
  /** Some use may come before the declaration ran, so its slot must be marked when the scope is entered. */
  usedEarly = false;
  /** Something is assigned to it after its declaration. */
  assigned = false;
  /** What its declaration gives it, if that is one expression. */
  init: Expression | null = null;
  /** Assigned by the compiler when its scope is entered. */
  slot = -1;
  constructor(
    readonly name: string,
    readonly kind: BindingKind,
    readonly scope: Scope,
    /** Where it is declared; uses at a smaller offset may come too early. */
    readonly start: number,
    /** From this offset on, in straight-line code of its own function, it is certainly initialised. */
    public initializedAt: number,
  ) {}

  get isConstant(): boolean {
    return this.kind === 'const' || this.kind === 'functionName' || this.kind === 'inputs';
  }
}

/** A region of the source in which names are declared. */
export class Scope {
  readonly bindings = new Map<string, Binding>();
  constructor(
    readonly parent: Scope | null,
    readonly fn: FunctionScope,
    /** A case may be entered past a declaration, so no use is certainly initialised. */
    readonly isSwitch = false,
  ) {}

  find(name: string): Binding | undefined {
    for (let scope: Scope | null = this; scope; scope = scope.parent) {
      const found = scope.bindings.get(name);
      if (found) return found;
    }
    return undefined;
  }

  /** Every name that could be written here. */
  visibleNames(): string[] {
    const names: string[] = [];
    for (let scope: Scope | null = this; scope; scope = scope.parent) names.push(...scope.bindings.keys());
    return names;
  }
}

/** What a function captures from the functions around it. */
export class FunctionScope {
  /** In the order of its captured cells. */
  readonly captures: Binding[] = [];
  constructor(
    readonly node: FunctionNode | Program,
    readonly parent: FunctionScope | null,
  ) {}

  /** The index of the captured cell, noting it in every function between here and the one that declares it. */
  capture(binding: Binding): number {
    const known = this.captures.indexOf(binding);
    if (known >= 0) return known;
    binding.captured = true;
    if (this.parent && this.parent !== binding.scope.fn) this.parent.capture(binding);
    return this.captures.push(binding) - 1;
  }
}

/** A resolved program: which scope each node opens and which variable each identifier refers to. */
export interface Resolution {
  readonly root: Scope;
  readonly scopes: ReadonlyMap<Node, Scope>;
  /** Parameters of a function (or `workflow(…)`), around its body's own scope. */
  readonly parameterScopes: ReadonlyMap<Node, Scope>;
  /** A missing entry is a built-in name. */
  readonly references: ReadonlyMap<Identifier, Reference>;
  /** Operands of a `typeof` that are declared nowhere: the result is "undefined". */
  readonly undeclaredTypeofs: ReadonlySet<Identifier>;
}

export interface Reference {
  readonly binding: Binding;
  /** The use may come before the declaration ran. */
  readonly mayBeEarly: boolean;
}
