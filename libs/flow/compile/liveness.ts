// Computes which slots are still needed at each await: the others are neither stored in a snapshot nor keep anything alive.

import { OP, OPCODES } from './opcodes.js';
import type { FunctionCode, LiveSlots } from './program.js';
import type { StackMap } from './verify.js';

type Analyzed = Omit<FunctionCode, 'stack' | 'live' | 'inert'>;

const USES_FIRST_SLOT: ReadonlySet<number> = new Set([
  OP.GET,
  OP.GET_CHECKED,
  OP.SET_CHECKED,
  OP.BOX,
  OP.COPY_CELL,
  OP.GET_CELL,
  OP.SET_CELL,
  OP.INIT_CELL,
  OP.INC_LOCAL,
  OP.DEC_LOCAL,
  OP.GET2,
  OP.GET_PROP_OF,
]);
const KILLS_SLOT: ReadonlySet<number> = new Set([OP.SET, OP.UNSET, OP.NEW_CELL]);

/** A backward data-flow over the instructions; an instruction that may throw also flows into its innermost handler. */
export function analyzeLiveness(fn: Analyzed, stack: StackMap, functions: readonly FunctionCode[]): LiveSlots[] {
  const { code } = fn;
  // Only async functions wait, and not all of them do.
  if (!awaits(code)) return [];
  const words = Math.max(1, Math.ceil(fn.slots / 32));
  const liveBefore = new Uint32Array((code.length + 1) * words);
  const order: number[] = [];
  for (let ip = 0; ip < code.length; ip += 1 + OPCODES[code[ip]].operands.length) if (stack.depthAt[ip] >= 0) order.push(ip);
  order.reverse();
  const handlerOf = new Map(order.map((ip) => [ip, innermostHandler(fn, ip)]));
  const row = new Uint32Array(words);
  for (let changed = true; changed; ) {
    changed = false;
    for (const ip of order) {
      liveAfter(fn, liveBefore, words, ip, row);
      transfer(fn, ip, row, functions);
      const handler = handlerOf.get(ip)!;
      for (let word = 0; word < words; word++) {
        let bits = row[word];
        // A throw happens before the instruction's own store.
        if (handler >= 0) bits |= liveBefore[handler * words + word];
        if (liveBefore[ip * words + word] !== bits >>> 0) {
          liveBefore[ip * words + word] = bits;
          changed = true;
        }
      }
    }
  }
  const result: LiveSlots[] = [];
  for (const ip of order.reverse()) {
    if (code[ip] !== OP.AWAIT) continue;
    liveAfter(fn, liveBefore, words, ip, row);
    const handler = handlerOf.get(ip)!;
    const slots: number[] = [];
    for (let slot = 0; slot < fn.slots; slot++) {
      const inHandler = handler >= 0 && (liveBefore[handler * words + (slot >> 5)] >>> (slot & 31)) & 1;
      if ((row[slot >> 5] >>> (slot & 31)) & 1 || inHandler) slots.push(slot);
    }
    result.push({ at: ip + 1, depth: stack.depthAt[ip] - 1, slots });
  }
  return result;
}

function awaits(code: readonly number[]): boolean {
  for (let ip = 0; ip < code.length; ip += 1 + OPCODES[code[ip]].operands.length) if (code[ip] === OP.AWAIT) return true;
  return false;
}

function liveAfter(fn: Analyzed, liveBefore: Uint32Array, words: number, ip: number, row: Uint32Array): void {
  const opcode = OPCODES[fn.code[ip]];
  const next = ip + 1 + opcode.operands.length;
  const targetAt = opcode.operands.indexOf('target');
  for (let word = 0; word < words; word++) {
    let bits = 0;
    if (!opcode.ends) bits |= liveBefore[next * words + word];
    if (targetAt >= 0) bits |= liveBefore[fn.code[ip + 1 + targetAt] * words + word];
    row[word] = bits;
  }
}

function transfer(fn: Analyzed, ip: number, row: Uint32Array, functions: readonly FunctionCode[]): void {
  const op = fn.code[ip];
  const first = fn.code[ip + 1];
  if (KILLS_SLOT.has(op)) row[first >> 5] &= ~(1 << (first & 31));
  else if (USES_FIRST_SLOT.has(op)) {
    row[first >> 5] |= 1 << (first & 31);
    const second = fn.code[ip + 2];
    if (op === OP.GET2) row[second >> 5] |= 1 << (second & 31);
  } else if (op === OP.CLOSURE || op === OP.CLOSURE_KEYED) {
    for (const slot of functions[first].captures) if (slot >= 0) row[slot >> 5] |= 1 << (slot & 31);
  }
}

/** Where a throw of this instruction is caught in its own function, or -1. */
export function innermostHandler(fn: Pick<FunctionCode, 'code' | 'handlers'>, ip: number): number {
  if (!OPCODES[fn.code[ip]].throws) return -1;
  for (let at = 0; at < fn.handlers.length; at += 4) {
    if (ip >= fn.handlers[at] && ip < fn.handlers[at + 1]) return fn.handlers[at + 2];
  }
  return -1;
}
