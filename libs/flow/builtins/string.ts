// `String` and the methods of strings that need no function; what needs a regular expression or a locale is refused.
import { type BuiltinFamily, type Machine, methods, type NativeCost, native } from '../vm/native.js';
import type { NativeFunction, Value } from '../vm/values.js';
import { clampedIndex } from './array-index.js';
import { byAll, byArguments, byFirst, byReceiver } from './cost.js';
import { cut, detached } from './cut.js';
import { thisString, wrongReceiver } from './receiver.js';
import { findFirst, findLast } from './search.js';
import { NORMALIZE } from './string-normalize.js';
import { STRING_REPLACES } from './string-replace.js';
import { SPLIT } from './string-split.js';

type Read = (vm: Machine, text: string, args: readonly Value[]) => Value;

function method(name: string, length: number, cost: NativeCost, read: Read): NativeFunction {
  return native({
    name: `String.prototype.${name}`,
    length,
    cost,
    call(vm, receiver, args) {
      const text = thisString(vm, receiver, name);
      vm.chargeRead(text.length);
      return read(vm, text, args);
    },
  });
}

/** The string itself: unlike the others these do not convert other receivers. */
function itself(name: string): NativeFunction {
  return native({
    name: `String.prototype.${name}`,
    length: 0,
    cost: 1,
    call(vm, receiver) {
      if (typeof receiver === 'string') return receiver;
      throw wrongReceiver(vm, `String.prototype.${name}`, 'a string');
    },
  });
}

/** A method whose result is never longer than `growth` times its string. */
function rewrite(name: string, growth: number, convert: (text: string) => string): NativeFunction {
  return method(name, 0, byReceiver, (vm, text) => {
    vm.chargeString(text.length * growth);
    return convert(text);
  });
}

function pad(name: 'padStart' | 'padEnd'): NativeFunction {
  return method(name, 2, byReceiver, (vm, text, args) => {
    const length = vm.toInteger(args[0]);
    if (length <= text.length) return text;
    const filler = args[1] === undefined ? ' ' : vm.toString(args[1]);
    if (filler === '') return text;
    vm.chargeString(length);
    return text[name](length, filler);
  });
}

function atEdge(name: 'startsWith' | 'endsWith'): NativeFunction {
  return method(name, 1, byAll, (vm, text, args) => {
    const wanted = vm.toString(args[0]);
    return text[name](wanted, args[1] === undefined ? undefined : vm.toInteger(args[1]));
  });
}

function slice(vm: Machine, text: string, from: number, to: number): string {
  if (to <= from) return '';
  vm.chargeString(to - from);
  return cut(text, from, to);
}

const MAX_CODE_POINT = 0x10ffff;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

const STRING_METHODS = [
  method('at', 1, 1, (vm, text, args) => {
    const index = vm.toInteger(args[0]);
    return text[index < 0 ? text.length + index : index];
  }),
  method('charAt', 1, 1, (vm, text, args) => text.charAt(vm.toInteger(args[0]))),
  method('charCodeAt', 1, 1, (vm, text, args) => text.charCodeAt(vm.toInteger(args[0]))),
  method('codePointAt', 1, 1, (vm, text, args) => text.codePointAt(vm.toInteger(args[0]))),
  method('concat', 1, byAll, (vm, text, args) => {
    const parts = args.map((each) => vm.toString(each));
    vm.chargeString(parts.reduce((sum, part) => sum + part.length, text.length));
    return text + parts.join('');
  }),
  atEdge('endsWith'),
  method('includes', 1, byAll, (vm, text, args) => {
    const wanted = vm.toString(args[0]);
    return findFirst(vm, text, wanted, vm.toInteger(args[1])) >= 0;
  }),
  method('indexOf', 1, byAll, (vm, text, args) => {
    const wanted = vm.toString(args[0]);
    return findFirst(vm, text, wanted, vm.toInteger(args[1]));
  }),
  method('isWellFormed', 0, byReceiver, (_vm, text) => text.search(LONE_SURROGATE) < 0),
  method('lastIndexOf', 1, byAll, (vm, text, args) => {
    const wanted = vm.toString(args[0]);
    const from = vm.toNumber(args[1]);
    return findLast(vm, text, wanted, Number.isNaN(from) ? Number.POSITIVE_INFINITY : from);
  }),
  NORMALIZE,
  pad('padEnd'),
  pad('padStart'),
  method('repeat', 1, byReceiver, (vm, text, args) => {
    const count = vm.toInteger(args[0]);
    if (count < 0 || count === Number.POSITIVE_INFINITY)
      throw vm.error('RangeError', `repeat() needs a count of zero or more, not ${count}`);
    if (text === '') return '';
    vm.chargeString(text.length * count);
    return text.repeat(count);
  }),
  method('slice', 2, 1, (vm, text, args) => {
    const from = clampedIndex(vm, args[0], text.length, 0);
    return slice(vm, text, from, clampedIndex(vm, args[1], text.length, text.length));
  }),
  SPLIT,
  atEdge('startsWith'),
  method('substr', 2, 1, (vm, text, args) => {
    const from = clampedIndex(vm, args[0], text.length, 0);
    const length = args[1] === undefined ? text.length - from : vm.toInteger(args[1]);
    return slice(vm, text, from, Math.min(from + Math.max(length, 0), text.length));
  }),
  method('substring', 2, 1, (vm, text, args) => {
    const clamp = (index: number) => Math.min(Math.max(index, 0), text.length);
    const a = clamp(vm.toInteger(args[0]));
    const b = args[1] === undefined ? text.length : clamp(vm.toInteger(args[1]));
    return slice(vm, text, Math.min(a, b), Math.max(a, b));
  }),
  rewrite('toLowerCase', 3, (text) => text.toLowerCase()),
  itself('toString'),
  rewrite('toUpperCase', 3, (text) => text.toUpperCase()),
  rewrite('toWellFormed', 1, (text) => text.replace(LONE_SURROGATE, '\uFFFD')),
  rewrite('trim', 1, (text) => detached(text, text.trim())),
  rewrite('trimEnd', 1, (text) => detached(text, text.trimEnd())),
  rewrite('trimStart', 1, (text) => detached(text, text.trimStart())),
  itself('valueOf'),
];

const STRING = native(
  {
    name: 'String',
    length: 1,
    cost: byFirst,
    call: (vm, _receiver, args) => (args.length === 0 ? '' : vm.toString(args[0])),
    hasInstance: () => false,
    unsupportedStatics: ['raw', 'prototype'],
  },
  {
    fromCharCode: native({
      name: 'String.fromCharCode',
      length: 1,
      cost: byArguments,
      call(vm, _receiver, args) {
        const units = args.map((each) => vm.toNumber(each));
        vm.chargeString(units.length);
        return units.map((unit) => String.fromCharCode(unit)).join('');
      },
    }),
    fromCodePoint: native({
      name: 'String.fromCodePoint',
      length: 1,
      cost: byArguments,
      call(vm, _receiver, args) {
        const points = args.map((each) => {
          const point = vm.toNumber(each);
          if (!Number.isInteger(point) || point < 0 || point > MAX_CODE_POINT) throw vm.error('RangeError', `Invalid code point ${point}`);
          return point;
        });
        vm.chargeString(2 * points.length);
        return points.map((point) => String.fromCodePoint(point)).join('');
      },
    }),
  },
);

const ALIASES = { trimLeft: 'trimStart', trimRight: 'trimEnd' };
const table: Record<string, NativeFunction> = { ...methods([...STRING_METHODS, ...STRING_REPLACES]) };
for (const [alias, name] of Object.entries(ALIASES)) table[alias] = table[name];

export const STRINGS: BuiltinFamily = {
  globals: { String: STRING },
  types: {
    string: {
      methods: Object.freeze(Object.assign(Object.create(null), table)),
      unsupported: [
        ...['match', 'matchAll', 'search', 'localeCompare', 'toLocaleLowerCase', 'toLocaleUpperCase', 'toLocaleString', 'constructor'],
        ...['anchor', 'big', 'blink', 'bold', 'fixed', 'fontcolor', 'fontsize', 'italics', 'link', 'small', 'strike', 'sub', 'sup'],
      ],
    },
  },
};
