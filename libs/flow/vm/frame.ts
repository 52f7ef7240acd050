// Frames of the call stack: functions of the program, natives that call back, and what the VM itself does with a result.

import type { FunctionCode } from '../compile/program.js';
import type { Steps } from './native.js';
import type { Cell, FunctionObject, PromiseObject, Value } from './values.js';

/** What a register may hold: values, captured variables, and markers that no flow can see. */
export type Register = Value | Cell | symbol;

/**
 * Fresh registers. All register arrays are created here in the same way, so that V8 sees one elements kind in the
 * dispatch loop: filling with undefined first makes it the generic kind, whatever the arguments are.
 */
export function newRegisters(code: FunctionCode): Register[] {
  const size = code.slots + code.stack;
  const registers: Register[] = new Array(size);
  for (let at = 0; at < size; at++) registers[at] = undefined;
  return registers;
}

/**
 * Registers are the slots followed by the operand stack. A frame of an async function carries the promise it settles and
 * is alone when it waits: a suspended branch (fiber) is exactly one frame.
 */
export class Frame {
  ip = 0;
  sp: number;
  readonly code: FunctionCode;
  readonly cells: readonly Cell[];
  constructor(
    readonly fn: FunctionObject,
    readonly registers: Register[],
    /** Of an async function. */
    readonly promise: PromiseObject | null,
  ) {
    this.code = fn.code;
    this.cells = fn.cells;
    this.sp = fn.code.slots;
  }
}

/** A stepped native. Never on the stack at a snapshot: only async functions wait, each alone. */
export class NativeFrame {
  /** What it has collected so far (see `Machine.hold`): the locals of a generator cannot be walked. */
  readonly held: (readonly Value[])[] = [];
  /** What it goes on with after a pause: it is on top of the stack only while it pauses. */
  sent: Value = undefined;
  constructor(
    readonly steps: Steps<Value>,
    readonly receiver: Value,
    readonly args: readonly Value[],
  ) {}
}

/** Settles a promise with what the function above it returns or throws. */
export class SettleFrame {
  constructor(readonly promise: PromiseObject) {}
}

/** Calls a host function with the result: the rest of a fused instruction. */
export class ContinueFrame {
  constructor(readonly then: (value: Value) => void) {}
}

export type AnyFrame = Frame | NativeFrame | SettleFrame | ContinueFrame;
