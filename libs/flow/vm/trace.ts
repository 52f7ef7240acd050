// The flow's own stack traces: captured as pairs of function and instruction, rendered when they are read.

import type { FunctionCode, Program } from '../compile/program.js';
import type { Machine } from './native.js';
import type { ErrorObject } from './values.js';

export interface TraceLine {
  readonly fn: string;
  readonly line: number;
  readonly column: number;
}

/** The source position of the instruction that ends before (or holds) this instruction pointer. */
export function positionAt(code: FunctionCode, ip: number): { line: number; column: number } {
  const { positions } = code;
  let low = 0;
  let high = positions.length / 3;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle * 3] < ip) low = middle + 1;
    else high = middle;
  }
  const at = Math.max(0, low - 1) * 3;
  return { line: positions[at + 1] ?? 1, column: positions[at + 2] ?? 1 };
}

export function traceLines(program: Program, trace: readonly number[]): TraceLine[] {
  const lines: TraceLine[] = [];
  for (let at = 0; at + 1 < trace.length; at += 2) {
    const code = program.functions[trace[at]];
    lines.push({ fn: code.name || '<anonymous>', ...positionAt(code, trace[at + 1]) });
  }
  return lines;
}

/** Fuel of rendering twenty lines. */
const STACK_WORK = 200;
const LONGEST_NAME = 100;

function shortened(name: string): string {
  return name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name;
}

/** The value of `error.stack`. */
export function renderStack(vm: Machine, error: ErrorObject): string {
  if (error.stack !== null) return error.stack;
  const { program } = vm as Machine & { program: Program };
  const name = error.props?.name ?? error.errorKind;
  const message = error.hidden.message ?? error.props?.message;
  const head = typeof message === 'string' && message !== '' ? `${name}: ${message}` : String(name);
  vm.charge(STACK_WORK);
  const body = traceLines(program, error.trace).map(
    ({ fn, line, column }) => `\n    at ${shortened(fn)} (${program.file}:${line}:${column})`,
  );
  vm.chargeString(head.length + body.reduce((sum, line) => sum + line.length, 0));
  return head + body.join('');
}
