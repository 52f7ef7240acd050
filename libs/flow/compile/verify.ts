// Walks the instructions of a function as the VM could: computes the stack depth everywhere and proves that no operand or jump is out of range.

import { OP, OPCODES, type OperandKind } from './opcodes.js';
import type { FunctionCode } from './program.js';

export interface StackMap {
  /** Depth of the operand stack before the instruction at this place; -1 where no instruction begins or none can be reached. */
  readonly depthAt: Int32Array;
  readonly deepest: number;
}

type Measured = Pick<FunctionCode, 'code' | 'handlers' | 'slots' | 'captures'>;

/** How many of each kind of operand exist, to check against. */
export interface OperandBounds {
  readonly constants: number;
  readonly functions: number;
}

/** Instructions whose number operand counts values below the top. */
const LOOKS_BELOW: ReadonlySet<number> = new Set([OP.PICK, OP.NEXT_OR_UNDEFINED, OP.REST_ELEMENTS]);
const MOST_OPERANDS_ON_STACK = 65_536;

/** What the analyses of one function and its frames may cost, far beyond any real function. */
const MOST_SLOTS = 10_000;
const MOST_HANDLERS = 5_000;
const MOST_CODE = 500_000;
const MOST_LIVENESS = 8_000_000;

/** Says why a function is too large, if it is: some analyses cost the product of its variables, awaits and instructions. */
export function oversize({ code, handlers, slots }: Pick<FunctionCode, 'code' | 'handlers' | 'slots'>): string | undefined {
  if (slots > MOST_SLOTS) return `it has ${slots} variables; the limit is ${MOST_SLOTS}`;
  if (handlers.length > MOST_HANDLERS * 4) return `it has ${handlers.length / 4} try blocks; the limit is ${MOST_HANDLERS}`;
  if (code.length > MOST_CODE) return `it has ${code.length} words of code; the limit is ${MOST_CODE}`;
  if ((1 + (slots >> 5)) * code.length > MOST_LIVENESS || handlers.length * code.length > MOST_LIVENESS * 40)
    return 'it has too many variables and try blocks for its length';
  return undefined;
}

/** Throws a plain Error that names the fault; on code from the compiler it never does. */
export function measureStack(fn: Measured, bounds?: OperandBounds): StackMap {
  const { code, handlers } = fn;
  const starts = instructionStarts(fn, bounds);
  const depthAt = new Int32Array(code.length).fill(-1);
  let deepest = 0;
  const work: number[] = [];
  const arrive = (ip: number, depth: number) => {
    if (starts[ip] !== 1) throw new Error(`instruction ${ip} does not exist`);
    if (depth < 0) throw new Error(`the stack is empty at ${ip}`);
    if (depthAt[ip] >= 0) {
      if (depthAt[ip] !== depth) throw new Error(`the stack is ${depthAt[ip]} or ${depth} deep at ${ip}`);
      return;
    }
    depthAt[ip] = depth;
    if (depth > deepest) deepest = depth;
    work.push(ip);
  };
  arrive(0, 0);
  while (work.length > 0) {
    const ip = work.pop()!;
    const { operands, perCount, pops, pushes, jumpEffect, ends, throws } = OPCODES[code[ip]];
    const depth = depthAt[ip];
    let count = 0;
    let target = -1;
    for (let at = 0; at < operands.length; at++) {
      if (operands[at] === 'count') count = code[ip + 1 + at] * perCount;
      else if (operands[at] === 'target') target = code[ip + 1 + at];
    }
    const left = depth - pops - count;
    if (left < 0 || (LOOKS_BELOW.has(code[ip]) && code[ip + 1] >= depth)) throw new Error(`the stack is not deep enough at ${ip}`);
    for (let at = 0; at < handlers.length; at += 4) {
      if (ip < handlers[at] || ip >= handlers[at + 1]) continue;
      if (handlers[at + 3] > depth) {
        // `break` drops the iterator of a loop while still inside the try: nothing there can throw.
        if (!throws) continue;
        throw new Error(`a handler expects a deeper stack at ${ip}`);
      }
      arrive(handlers[at + 2], handlers[at + 3] + 1);
    }
    if (target >= 0) arrive(target, depth + jumpEffect!);
    if (!ends) arrive(ip + 1 + operands.length, left + pushes);
  }
  return { depthAt, deepest };
}

/** Marks where instructions begin, and proves that every operand refers to something that exists. */
function instructionStarts(fn: Measured, bounds: OperandBounds | undefined): Uint8Array {
  const { code } = fn;
  const starts = new Uint8Array(code.length);
  const limits: Record<OperandKind, number> = {
    constant: bounds?.constants ?? Number.POSITIVE_INFINITY,
    name: bounds?.constants ?? Number.POSITIVE_INFINITY,
    function: bounds?.functions ?? Number.POSITIVE_INFINITY,
    slot: fn.slots,
    cell: fn.captures.length,
    target: code.length,
    count: MOST_OPERANDS_ON_STACK,
    number: Number.POSITIVE_INFINITY,
  };
  for (let ip = 0; ip < code.length; ) {
    const opcode = OPCODES[code[ip]];
    if (!opcode) throw new Error(`unknown instruction ${code[ip]} at ${ip}`);
    starts[ip] = 1;
    const { operands } = opcode;
    for (let at = 0; at < operands.length; at++) {
      const kind = operands[at];
      const operand = code[ip + 1 + at];
      if (!Number.isInteger(operand) || (operand < 0 && !(kind === 'number' && code[ip] === OP.INT)) || operand >= limits[kind])
        throw new Error(`operand ${operand} of ${opcode.name} at ${ip} is out of range`);
    }
    // Only LOOP jumps back, and it costs fuel: otherwise a run could hang.
    const target = operands.indexOf('target');
    if (target >= 0 && code[ip] !== OP.LOOP && code[ip + 1 + target] <= ip) throw new Error(`${opcode.name} at ${ip} jumps back`);
    if (code[ip] === OP.LOOP && code[ip + 2] < 1) throw new Error(`the loop at ${ip} costs no fuel`);
    ip += 1 + operands.length;
  }
  if (code.length === 0) throw new Error('a function has no instructions');
  for (let at = 0; at < fn.handlers.length; at += 4) {
    const [start, end, handler, depth] = fn.handlers.slice(at, at + 4);
    if (
      starts[start] !== 1 ||
      !(end > start && end <= code.length) ||
      starts[handler] !== 1 ||
      handler < end ||
      !(Number.isInteger(depth) && depth >= 0)
    )
      throw new Error(`protected region ${at / 4} is out of range`);
  }
  return starts;
}
