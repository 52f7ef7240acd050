// The compiler's state while it emits one function: its variables' slots, the enclosing loops and finally blocks.

import type { LineMap } from '../diagnostics/line-map.js';
import type { Expression, FunctionNode, Identifier, Pattern } from '../parse/ast.js';
import type { Binding, FunctionScope, Resolution, Scope } from '../scope/scope.js';
import { Assembler, type ConstantPool, Label } from './assembler.js';
import type { FunctionCode } from './program.js';

/** What every function of one compilation shares. */
export interface Compilation {
  readonly source: string;
  readonly lines: LineMap;
  readonly resolution: Resolution;
  readonly pool: ConstantPool;
  readonly functions: FunctionCode[];
  /** Compiles a nested function and returns its index. */
  compileFunction(node: FunctionNode, name: string): { index: number; captures: readonly Binding[] };
}

/** A statement that `break` or `continue` can leave, or a `finally` that they must pass through. */
export type Control =
  | {
      readonly kind: 'breakable';
      readonly labels: readonly string[];
      readonly isPlainTarget: boolean;
      readonly exit: Label;
      readonly depth: number;
      readonly next?: Label;
      readonly nextDepth?: number;
    }
  | { readonly kind: 'finally'; readonly depth: number; readonly entry: Label; readonly exits: Exit[] };

/** A jump or return that passes through a finally: `go` emits the rest of its path, with one value on the stack. */
export interface Exit {
  readonly label: Label;
  readonly go: () => void;
}

export class FunctionCompiler {
  readonly asm: Assembler;
  controls: Control[] = [];
  /** Labels directly before the next statement. */
  pendingLabels: string[] = [];
  slotCount = 0;
  private freeSlot = 0;

  constructor(
    readonly compilation: Compilation,
    readonly scope: FunctionScope,
    readonly isAsync: boolean,
  ) {
    this.asm = new Assembler(compilation.pool, compilation.lines);
  }

  // Slots -------------------------------------------------------------------------------------------------------------

  newSlot(): number {
    const slot = this.freeSlot++;
    if (this.freeSlot > this.slotCount) this.slotCount = this.freeSlot;
    return slot;
  }

  /** Opens a scope: gives its variables slots and starts their dead zones. Slots are reused after `leave`. */
  enter(scope: Scope): { readonly mark: number; readonly from: number; readonly scope: Scope } {
    const entered = { mark: this.freeSlot, from: this.asm.here, scope };
    for (const binding of scope.bindings.values()) {
      if (binding.slot >= 0) continue;
      binding.slot = this.newSlot();
      this.begin(binding);
    }
    return entered;
  }

  begin(binding: Binding): void {
    if (binding.captured) this.asm.emit('NEW_CELL', binding.slot);
    else if (binding.usedEarly) this.asm.emit('UNSET', binding.slot);
  }

  leave(entered: { readonly mark: number; readonly from: number; readonly scope: Scope }): void {
    this.asm.barrier();
    for (const { name, slot } of entered.scope.bindings.values()) {
      this.asm.locals.push({ name, at: slot, from: entered.from, to: this.asm.here });
    }
    this.freeSlot = entered.mark;
  }

  // Variables ---------------------------------------------------------------------------------------------------------

  load(id: Identifier): void {
    const { asm } = this;
    const reference = this.compilation.resolution.references.get(id);
    asm.at(id.start);
    if (!reference) {
      if (id.name === 'undefined') asm.emit('UNDEFINED');
      else asm.emit('GLOBAL', asm.name(id.name));
      return;
    }
    const { binding, mayBeEarly } = reference;
    if (binding.scope.fn !== this.scope) asm.emit('GET_CAPTURED', this.scope.capture(binding), asm.name(id.name));
    else if (binding.captured) asm.emit('GET_CELL', binding.slot, asm.name(id.name));
    else if (mayBeEarly) asm.emit('GET_CHECKED', binding.slot, asm.name(id.name));
    else asm.emit('GET', binding.slot);
  }

  /** Assigns the top of the stack to a variable. */
  store(id: Identifier): void {
    const { asm } = this;
    const { binding, mayBeEarly } = this.compilation.resolution.references.get(id)!;
    asm.at(id.start);
    if (binding.scope.fn !== this.scope) asm.emit('SET_CAPTURED', this.scope.capture(binding), asm.name(id.name));
    else if (binding.captured) asm.emit('SET_CELL', binding.slot, asm.name(id.name));
    else if (mayBeEarly) asm.emit('SET_CHECKED', binding.slot, asm.name(id.name));
    else asm.emit('SET', binding.slot);
  }

  /** Initialises the variable that this identifier declares with the top of the stack. */
  initialize(id: Identifier): void {
    const { binding } = this.compilation.resolution.references.get(id)!;
    this.initializeBinding(binding);
  }

  initializeBinding(binding: Binding): void {
    this.asm.emit(binding.captured ? 'INIT_CELL' : 'SET', binding.slot);
  }

  /** The slot of a plain local variable that needs no checks, or -1. */
  plainSlot(node: Expression | Pattern): number {
    if (node.type !== 'Identifier') return -1;
    const reference = this.compilation.resolution.references.get(node);
    if (!reference || reference.mayBeEarly || reference.binding.captured || reference.binding.scope.fn !== this.scope) return -1;
    return reference.binding.slot;
  }

  closure(node: FunctionNode, name: string, keyed = false): void {
    const { index, captures } = this.compilation.compileFunction(node, name);
    for (const binding of captures) if (binding.scope.fn !== this.scope) this.scope.capture(binding);
    this.asm.at(node.start);
    this.asm.emit(keyed ? 'CLOSURE_KEYED' : 'CLOSURE', index);
  }

  // Leaving statements ------------------------------------------------------------------------------------------------

  /** Emits the way out for `break`/`continue`: drops what the statements left on the stack and runs the finally blocks in between. */
  leaveTo(find: (control: Control) => { label: Label; depth: number } | undefined): void {
    for (let at = this.controls.length - 1; at >= 0; at--) {
      const control = this.controls[at];
      if (control.kind === 'finally') {
        this.dropTo(control.depth);
        this.asm.emit('UNDEFINED');
        this.throughFinally(control, at, () => {
          this.asm.emit('POP');
          this.leaveTo(find);
        });
        return;
      }
      const target = find(control);
      if (target) {
        this.dropTo(target.depth);
        this.asm.jump('JUMP', target.label);
        return;
      }
    }
    throw new Error('A jump without a target passed the checker.');
  }

  /** Returns with the top of the stack, through every enclosing finally. */
  leaveFunction(): void {
    for (let at = this.controls.length - 1; at >= 0; at--) {
      const control = this.controls[at];
      if (control.kind !== 'finally') continue;
      const above = this.asm.depth - 1 - control.depth;
      if (above > 0) this.asm.emit('NIP', above);
      this.throughFinally(control, at, () => this.leaveFunction());
      return;
    }
    this.asm.emit('RETURN');
  }

  private throughFinally(control: Extract<Control, { kind: 'finally' }>, at: number, rest: () => void): void {
    const outer = this.controls.slice(0, at);
    const go = () => {
      const inner = this.controls;
      this.controls = outer;
      rest();
      this.controls = inner;
    };
    control.exits.push({ label: new Label(), go });
    this.asm.emit('INT', control.exits.length + 1);
    this.asm.jump('JUMP', control.entry);
  }

  private dropTo(depth: number): void {
    while (this.asm.depth > depth) this.asm.emit('POP');
  }

  /** How an error message names what was called. */
  textOf(node: Expression): string {
    const text = this.compilation.source.slice(node.start, node.end);
    return text.length <= 60 && !/[\n\r]/.test(text) ? text : 'expression';
  }
}
