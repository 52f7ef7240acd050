// Finds code that only reads and builds values: whether it runs or not affects nothing but its result.

import { isErrorKind } from '../error-kinds.js';
import { innermostHandler } from './liveness.js';
import { OP, OPCODES, type OpName } from './opcodes.js';
import type { FunctionCode } from './program.js';

type Analyzed = Pick<FunctionCode, 'code' | 'handlers'>;

const numbers = (...groups: OpName[][]): ReadonlySet<number> => new Set(groups.flat().map((name) => OP[name]));

/**
 * They run no other code of the flow and write nothing but variables of their own frame. Calls, coercions (an object may have
 * its own `toString`), loops (they may use up the fuel), iteration (it advances an iterator that other code may hold) and `finally`
 * are not among them. An instruction that is changed to run code of the flow must be removed from this set.
 */
const INERT = numbers(
  ['CONST', 'INT', 'UNDEFINED', 'NULL', 'TRUE', 'FALSE', 'POP', 'DUP', 'DUP2', 'SWAP'],
  ['PICK', 'NIP', 'GET', 'GET2', 'SET', 'GET_CHECKED', 'SET_CHECKED', 'UNSET', 'NEW_CELL', 'BOX'],
  ['GET_CELL', 'GET_CAPTURED', 'GLOBAL', 'SELF', 'CLOSURE', 'SEQ', 'SNE', 'NOT', 'TYPEOF', 'INSTANCEOF'],
  ['JUMP', 'JUMP_IF_FALSE', 'JUMP_IF_TRUE', 'JUMP_UNLESS_SEQ', 'JUMP_UNLESS_SNE', 'AND', 'OR', 'COALESCE', 'DEFAULT', 'NULLISH'],
  ['CASE', 'NEW_OBJECT', 'NEW_ARRAY', 'APPEND', 'APPEND_HOLE', 'DEFINE', 'GET_PROP', 'GET_PROP_OF', 'REQUIRE_OBJECT', 'THROW'],
  ['RETURN'],
);
/** They leave a value on top that is certainly not a thenable, whose `then` a return would call. */
const MAKES_PLAIN = numbers(
  ['CONST', 'INT', 'UNDEFINED', 'NULL', 'TRUE', 'FALSE', 'CLOSURE', 'SEQ', 'SNE', 'NOT', 'TYPEOF', 'INSTANCEOF'],
  ['NEW_OBJECT', 'NEW_ARRAY', 'APPEND', 'APPEND_HOLE', 'DEFINE'],
);
/** They leave the top as it was: always, or when they jump. */
const KEEPS_TOP = numbers(['DUP', 'JUMP']);
const JUMPS_WITH_TOP = numbers(['AND', 'OR', 'COALESCE', 'DEFAULT']);
const PUSHES_CONSTANT = numbers(['CONST', 'INT', 'UNDEFINED', 'NULL', 'TRUE', 'FALSE']);

export interface Inertness {
  /** Of the whole function, as a handler of a promise. */
  readonly whole: boolean;
  /** Of what follows an await, by the instruction pointer after it, whether its promise is fulfilled or rejected. */
  after(at: number): boolean;
}

/** One pass from the end to the start: what is inert goes only forward. */
export function analyzeInertness(fn: Analyzed, constants: readonly (string | number)[]): Inertness {
  const { code } = fn;
  const order: number[] = [];
  for (let ip = 0; ip < code.length; ip += 1 + OPCODES[code[ip]].operands.length) order.push(ip);
  // Two flags per instruction: inert from here on if the top is any value, and if it is certainly not a thenable.
  const inert = new Uint8Array((code.length + 1) * 2);
  const from = (here: number, target: number, plain: boolean) => target > here && inert[target * 2 + (plain ? 1 : 0)] === 1;
  for (let at = order.length - 1; at >= 0; at--) {
    const ip = order[at];
    const op = code[ip];
    const { operands, ends } = OPCODES[op];
    const makesError = op === OP.NEW && isNewError(code, order, at, constants);
    if (!makesError && (!INERT.has(op) || (op === OP.DEFINE && constants[code[ip + 1]] === 'then'))) continue;
    const handler = innermostHandler(fn, ip);
    if (handler >= 0 && !from(ip, handler, false)) continue;
    const targetAt = operands.indexOf('target');
    for (const plain of [false, true]) {
      if (op === OP.RETURN && !plain) continue;
      const plainAfter = makesError || MAKES_PLAIN.has(op) || (plain && KEEPS_TOP.has(op));
      if (!ends && !from(ip, ip + 1 + operands.length, plainAfter)) continue;
      if (targetAt >= 0 && !from(ip, code[ip + 1 + targetAt], plain && (KEEPS_TOP.has(op) || JUMPS_WITH_TOP.has(op)))) continue;
      inert[ip * 2 + (plain ? 1 : 0)] = 1;
    }
  }
  return {
    whole: inert[0] === 1,
    after(at) {
      const handler = innermostHandler(fn, at - 1);
      // No promise is ever fulfilled with a thenable.
      return from(at - 1, at, true) && (handler < 0 || from(at - 1, handler, false));
    },
  };
}

/** `new Error("…")`, whatever its kind, with constant arguments: the usual end of a race against a timer. */
function isNewError(code: readonly number[], order: readonly number[], at: number, constants: readonly (string | number)[]): boolean {
  const first = at - code[order[at] + 1];
  for (let argument = first; argument < at; argument++) if (!PUSHES_CONSTANT.has(code[order[argument]])) return false;
  const callee = order[first - 1];
  return code[callee] === OP.GLOBAL && isErrorKind(String(constants[code[callee + 1]]));
}
