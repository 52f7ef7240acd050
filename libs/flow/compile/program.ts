// A compiled program: plain data that is stored with its definition, so that an old run never depends on a newer compiler.

/** Increased when the meaning of stored bytecode changes; opcodes are only ever added. */
export const PROGRAM_VERSION = 1;

export interface Program {
  readonly version: number;
  /** Identifies the program among those that different compilers make of one source; a snapshot says which one it belongs to. */
  readonly fingerprint: string;
  readonly file: string;
  /** functions[0] is the main body. */
  readonly functions: readonly FunctionCode[];
  /** Strings and numbers that instructions refer to by index. */
  readonly constants: readonly (string | number)[];
}

/** Whether a run of the program can ever wait for a signal: code that does has to name `Signal`. */
export function takesSignals({ constants }: Program): boolean {
  return constants.includes('Signal');
}

export interface FunctionCode {
  readonly index: number;
  readonly name: string;
  readonly isAsync: boolean;
  /** The value of `fn.length`. */
  readonly length: number;
  /** Slots 0…parameters-1 receive the arguments; with `rest` the slot after them receives the rest array. */
  readonly parameters: number;
  readonly rest: boolean;
  /** Slots of variables; the operand stack begins after them. */
  readonly slots: number;
  /** The deepest the operand stack can get. */
  readonly stack: number;
  /** Opcode and operands, one number each; opcodes.ts is the table. */
  readonly code: readonly number[];
  /** Where each captured cell is found when the function is made: n ≥ 0 is slot n of the function that makes it, n < 0 its captured cell ~n. */
  readonly captures: readonly number[];
  /** Protected regions, innermost first, four numbers each: start, end (exclusive), handler, depth of the operand stack there. */
  readonly handlers: readonly number[];
  /** Source positions, three numbers each, ascending: instruction pointer, line (from 1), column (from 1). */
  readonly positions: readonly number[];
  /** Names of variables for people: name, where (slot, or ~index of a captured cell), first and last instruction pointer. */
  readonly locals: readonly LocalName[];
  /** For each await, by the instruction pointer after it: the slots that are still live there. */
  readonly live: readonly LiveSlots[];
  /** Whether the whole function only reads and builds values, so that calling it has no side effect. Absent in older programs. */
  readonly inert?: boolean;
}

export interface LocalName {
  readonly name: string;
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

export interface LiveSlots {
  readonly at: number;
  /** Depth of the operand stack at this point. */
  readonly depth: number;
  readonly slots: readonly number[];
  /** Whether all that can follow in this function only reads and builds values, however the awaited promise settles. */
  readonly inert?: boolean;
}
