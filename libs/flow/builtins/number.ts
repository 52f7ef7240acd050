// `Number`, `Boolean`, the methods of numbers and booleans, and the global functions on numbers.
import { type BuiltinFamily, type Machine, methods, type NativeCost, native } from '../vm/native.js';
import type { NativeFunction, Value } from '../vm/values.js';
import { byFirst } from './cost.js';
import { thisNumber, wrongReceiver } from './receiver.js';

const parseIntFunction = native({
  name: 'parseInt',
  length: 2,
  cost: byFirst,
  call(vm, _receiver, args) {
    const text = vm.toString(args[0]);
    return Number.parseInt(text, vm.toNumber(args[1]));
  },
});

const parseFloatFunction = native({
  name: 'parseFloat',
  length: 1,
  cost: byFirst,
  call: (vm, _receiver, args) => Number.parseFloat(vm.toString(args[0])),
});

function test(name: string, predicate: (value: Value) => boolean): NativeFunction {
  return native({ name: `Number.${name}`, length: 1, cost: 1, call: (_vm, _receiver, args) => predicate(args[0]) });
}

const NUMBER = native(
  {
    name: 'Number',
    length: 1,
    cost: byFirst,
    call: (vm, _receiver, args) => (args.length === 0 ? 0 : vm.toNumber(args[0])),
    hasInstance: () => false,
  },
  {
    EPSILON: Number.EPSILON,
    MAX_SAFE_INTEGER: Number.MAX_SAFE_INTEGER,
    MIN_SAFE_INTEGER: Number.MIN_SAFE_INTEGER,
    MAX_VALUE: Number.MAX_VALUE,
    MIN_VALUE: Number.MIN_VALUE,
    NaN: Number.NaN,
    NEGATIVE_INFINITY: Number.NEGATIVE_INFINITY,
    POSITIVE_INFINITY: Number.POSITIVE_INFINITY,
    isFinite: test('isFinite', Number.isFinite),
    isInteger: test('isInteger', Number.isInteger),
    isNaN: test('isNaN', Number.isNaN),
    isSafeInteger: test('isSafeInteger', Number.isSafeInteger),
    parseFloat: parseFloatFunction,
    parseInt: parseIntFunction,
  },
);

/** Other bases than ten are written digit by digit: up to a thousand of them. */
function radixCost(_receiver: Value, args: readonly Value[]): number {
  return args.length === 0 ? 8 : 100;
}

type Digits = (vm: Machine, value: number, argument: Value) => Value;

function format(name: string, cost: NativeCost, write: Digits): NativeFunction {
  return native({
    name: `Number.prototype.${name}`,
    length: 1,
    cost,
    call: (vm, receiver, args) => write(vm, thisNumber(vm, receiver, name), args[0]),
  });
}

/** A whole number within bounds, or the RangeError that JavaScript throws. */
function within(vm: Machine, digits: number, low: number, high: number, what: string): number {
  if (digits < low || digits > high) throw vm.error('RangeError', `${what} must be between ${low} and ${high}, not ${digits}`);
  return digits;
}

const NUMBER_METHODS = [
  format('toExponential', 24, (vm, value, argument) => {
    const digits = vm.toInteger(argument);
    if (!Number.isFinite(value)) return String(value);
    return value.toExponential(argument === undefined ? undefined : within(vm, digits, 0, 100, 'The digits of toExponential()'));
  }),
  format('toFixed', 24, (vm, value, argument) => value.toFixed(within(vm, vm.toInteger(argument), 0, 100, 'The digits of toFixed()'))),
  format('toPrecision', 24, (vm, value, argument) => {
    if (argument === undefined) return String(value);
    const digits = vm.toInteger(argument);
    if (!Number.isFinite(value)) return String(value);
    return value.toPrecision(within(vm, digits, 1, 100, 'The digits of toPrecision()'));
  }),
  format('toString', radixCost, (vm, value, argument) => {
    if (argument === undefined) return String(value);
    return value.toString(within(vm, vm.toInteger(argument), 2, 36, 'The radix of toString()'));
  }),
  native({
    name: 'Number.prototype.valueOf',
    length: 0,
    cost: 1,
    call: (vm, receiver) => thisNumber(vm, receiver, 'valueOf'),
  }),
];

function thisBoolean(vm: Machine, receiver: Value, method: string): boolean {
  if (typeof receiver === 'boolean') return receiver;
  throw wrongReceiver(vm, `Boolean.prototype.${method}`, 'a boolean');
}

const BOOLEAN_METHODS = [
  native({ name: 'Boolean.prototype.toString', length: 0, cost: 1, call: (vm, receiver) => String(thisBoolean(vm, receiver, 'toString')) }),
  native({ name: 'Boolean.prototype.valueOf', length: 0, cost: 1, call: (vm, receiver) => thisBoolean(vm, receiver, 'valueOf') }),
];

export const NUMBERS: BuiltinFamily = {
  globals: {
    NaN: Number.NaN,
    Infinity: Number.POSITIVE_INFINITY,
    undefined: undefined,
    Number: NUMBER,
    Boolean: native({ name: 'Boolean', length: 1, cost: 1, call: (_vm, _receiver, args) => Boolean(args[0]), hasInstance: () => false }),
    parseInt: parseIntFunction,
    parseFloat: parseFloatFunction,
    isNaN: native({ name: 'isNaN', length: 1, cost: byFirst, call: (vm, _receiver, args) => Number.isNaN(vm.toNumber(args[0])) }),
    isFinite: native({ name: 'isFinite', length: 1, cost: byFirst, call: (vm, _receiver, args) => Number.isFinite(vm.toNumber(args[0])) }),
  },
  types: {
    number: { methods: methods(NUMBER_METHODS), unsupported: ['toLocaleString', 'constructor'] },
    boolean: { methods: methods(BOOLEAN_METHODS), unsupported: ['constructor'] },
  },
};
