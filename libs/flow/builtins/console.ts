// `console`: what a flow prints becomes the log of its run.
import { type BuiltinFamily, type LogLevel, type Machine, namespace, native, type Steps } from '../vm/native.js';
import { HeapObject, isCallable, type NativeFunction, type Value } from '../vm/values.js';
import { byArguments } from './cost.js';
import { cut } from './cut.js';
import { inspect } from './inspect.js';
import { writeJson } from './json-write.js';

/** Longer lines of the log are cut: a log is for people. */
const LONGEST_LINE = 16_384;

const PIECE_BYTES = 16;

function printer(level: LogLevel): NativeFunction {
  return native({
    name: `console.${level}`,
    length: 0,
    cost: byArguments,
    *steps(vm, _receiver, args) {
      const line = yield* format(vm, args);
      vm.log(level, line.length > LONGEST_LINE ? `${cut(line, 0, LONGEST_LINE)}… (${line.length - LONGEST_LINE} more characters)` : line);
      return undefined;
    },
  });
}

function* format(vm: Machine, args: readonly Value[]): Steps<string> {
  const [first, ...rest] = args;
  const parts = typeof first === 'string' && rest.length > 0 ? yield* withPattern(vm, first, rest) : args.map((each) => shown(vm, each));
  vm.chargeString(parts.reduce((sum, part) => sum + part.length + 1, 0));
  return parts.join(' ');
}

function shown(vm: Machine, value: Value): string {
  return typeof value === 'string' ? value : inspect(vm, value);
}

/** `%s`, `%d`, `%i`, `%f`, `%j`, `%o`, `%O` and `%c` take the next argument; what is left follows after spaces. */
function* withPattern(vm: Machine, pattern: string, args: readonly Value[]): Steps<string[]> {
  const parts: string[] = [];
  let used = 0;
  // At worst every second character begins a piece.
  vm.charge(pattern.length >> 1);
  vm.chargeBytes(pattern.length * PIECE_BYTES);
  for (const piece of pattern.split(/(%[sdifjoOc%])/)) {
    vm.charge(1);
    if (piece === '%%') parts.push('%');
    else if (/^%[a-zO]$/.test(piece) && used < args.length) parts.push(yield* directive(vm, piece, args[used++]));
    else parts.push(piece);
  }
  return [parts.join(''), ...args.slice(used).map((each) => shown(vm, each))];
}

function* directive(vm: Machine, kind: string, value: Value): Steps<string> {
  switch (kind) {
    case '%s':
      if (!(value instanceof HeapObject)) return shown(vm, value);
      // Like Node: a function and an object with its own toString are converted, of others only the outermost level is shown.
      return isCallable(value) || isCallable(value.props?.toString) ? yield* vm.toStringSteps(value) : inspect(vm, value, 0);
    case '%d':
      return numberText(yield* vm.toNumberSteps(value));
    case '%i':
      return numberText(Number.parseInt(yield* vm.toStringSteps(value), 10));
    case '%f':
      return numberText(Number.parseFloat(yield* vm.toStringSteps(value)));
    case '%j':
      return (yield* writeJson(vm, value, { indent: '' })) ?? 'undefined';
    case '%c':
      return '';
    default:
      return inspect(vm, value);
  }
}

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

const LEVELS: readonly LogLevel[] = ['debug', 'log', 'info', 'warn', 'error'];

export const CONSOLES: BuiltinFamily = {
  globals: {
    console: namespace('console', Object.fromEntries(LEVELS.map((level) => [level, printer(level)])), [
      ...['assert', 'clear', 'count', 'countReset', 'dir', 'dirxml', 'group', 'groupCollapsed', 'groupEnd', 'profile', 'profileEnd'],
      ...['table', 'time', 'timeEnd', 'timeLog', 'timeStamp', 'trace'],
    ]),
  },
};
