// Programs as text, to be stored with their definition, and back, checked.

import { FlowSnapshotError } from '../errors.js';
import { fingerprintOf } from './fingerprint.js';
import { OP, OPCODES } from './opcodes.js';
import { type FunctionCode, PROGRAM_VERSION, type Program } from './program.js';
import { measureStack, oversize } from './verify.js';

// JSON has no other numbers; `-0` is compiled as a negation and never a constant.
const SPECIAL_NUMBERS: Readonly<Record<string, number>> = { Infinity: Number.POSITIVE_INFINITY, '-Infinity': Number.NEGATIVE_INFINITY };

export function saveProgram(program: Program): string {
  return JSON.stringify({ ...program, constants: program.constants.map(storedConstant) });
}

/** A number that JSON cannot write is an array of its name. */
function storedConstant(value: string | number): string | number | [string] {
  return typeof value === 'number' && !Number.isFinite(value) ? [String(value)] : value;
}

function loadedConstant(stored: unknown): string | number {
  if (typeof stored === 'string' || typeof stored === 'number') return stored;
  const special = Array.isArray(stored) && stored.length === 1 && typeof stored[0] === 'string' ? stored[0] : '';
  if (!Object.hasOwn(SPECIAL_NUMBERS, special)) throw new Error('its constants are damaged');
  return SPECIAL_NUMBERS[special];
}

/** Throws FlowSnapshotError when the text is damaged, or needs a newer release of this package (`FLOW_NEWER_FORMAT`). */
export function loadProgram(text: string): Program {
  try {
    const stored = JSON.parse(text) as Program;
    if (isNewer(stored)) throw new NewerFormat();
    if (stored.version !== PROGRAM_VERSION) throw new Error(`its version is ${stored.version}, not ${PROGRAM_VERSION}`);
    if (typeof stored.file !== 'string') throw new Error('it has no file name');
    if (!Array.isArray(stored.constants)) throw new Error('its constants are damaged');
    const program: Program = { ...stored, constants: stored.constants.map(loadedConstant) };
    if (!Array.isArray(program.functions) || program.functions.length === 0) throw new Error('it has no functions');
    program.functions.forEach((fn, at) => {
      verifyFunction(program, fn, at);
    });
    for (const fn of program.functions) verifyClosures(program, fn);
    const [main] = program.functions;
    if (!main.isAsync || main.captures.length > 0) throw new Error('its main body is damaged');
    if (program.fingerprint === undefined) return { ...program, fingerprint: fingerprintOf(program) };
    if (typeof program.fingerprint !== 'string') throw new Error('its fingerprint is damaged');
    return program;
  } catch (error) {
    if (error instanceof NewerFormat)
      throw new FlowSnapshotError(
        'The stored program was compiled by a newer release of this package and needs features that this release does not have. Upgrade the package.',
        { code: 'FLOW_NEWER_FORMAT' },
      );
    throw new FlowSnapshotError(`The stored program cannot be loaded: ${(error as Error).message}. Compile its source again.`, {
      cause: error,
    });
  }
}

class NewerFormat extends Error {}

/** Instructions are only ever added, so an unknown one with a higher number is from a newer release. */
function isNewer(program: Program): boolean {
  if (Number.isSafeInteger(program.version) && program.version > PROGRAM_VERSION) return true;
  if (!Array.isArray(program.functions)) return false;
  return program.functions.some((fn) => Array.isArray(fn?.code) && usesUnknownInstruction(fn.code));
}

function usesUnknownInstruction(code: readonly number[]): boolean {
  for (let ip = 0; ip < code.length; ) {
    const opcode = OPCODES[code[ip]];
    // What follows an unknown instruction cannot be told apart from its operands.
    if (!opcode) return Number.isSafeInteger(code[ip]) && code[ip] >= OPCODES.length;
    ip += 1 + opcode.operands.length;
  }
  return false;
}

/** A function that captured a variable its creator does not have would read past its registers. */
function verifyClosures({ functions }: Program, creator: FunctionCode): void {
  for (let ip = 0; ip < creator.code.length; ip += 1 + OPCODES[creator.code[ip]].operands.length) {
    if (creator.code[ip] !== OP.CLOSURE && creator.code[ip] !== OP.CLOSURE_KEYED) continue;
    const { captures, index } = functions[creator.code[ip + 1]];
    if (!captures.every((from) => (from >= 0 ? from < creator.slots : ~from < creator.captures.length)))
      throw new Error(`function ${index} captures a variable that function ${creator.index} does not have`);
  }
}

function verifyFunction(program: Program, fn: FunctionCode, index: number): void {
  const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= 1_000_000;
  const isNumbers = (list: unknown) => Array.isArray(list) && list.every((each) => Number.isSafeInteger(each));
  const shapeOk =
    fn.index === index &&
    typeof fn.name === 'string' &&
    typeof fn.isAsync === 'boolean' &&
    typeof fn.rest === 'boolean' &&
    [fn.length, fn.parameters, fn.slots, fn.stack].every(isCount) &&
    [fn.code, fn.captures, fn.handlers, fn.positions].every(isNumbers) &&
    fn.handlers.length % 4 === 0 &&
    fn.positions.length % 3 === 0 &&
    fn.parameters + (fn.rest ? 1 : 0) <= fn.slots;
  if (!shapeOk) throw new Error(`function ${index} is damaged`);
  const tooLarge = oversize(fn);
  if (tooLarge) throw new Error(`function ${index} is too large: ${tooLarge}`);
  const { deepest, depthAt } = measureStack(fn, { constants: program.constants.length, functions: program.functions.length });
  if (fn.stack < deepest) throw new Error(`function ${index} declares too small a stack`);
  for (const { at, depth, slots } of fn.live) {
    const slotsOk = Array.isArray(slots) && slots.every((slot) => isCount(slot) && slot < fn.slots);
    if (!slotsOk || !isCount(at) || !fn.isAsync || fn.code[at - 1] !== OP.AWAIT || depthAt[at] !== depth + 1)
      throw new Error(`function ${index} has a damaged await at ${at}`);
  }
  const localsOk =
    Array.isArray(fn.locals) &&
    fn.locals.every(({ name, at, from, to }) => typeof name === 'string' && [at, from, to].every(Number.isSafeInteger));
  if (!localsOk) throw new Error(`function ${index} has damaged names`);
}
