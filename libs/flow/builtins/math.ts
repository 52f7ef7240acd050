// `Math`: the host's own functions on numbers, which are exact or the same fdlibm in every V8; randomness comes from the host.
import { type BuiltinFamily, namespace, native } from '../vm/native.js';
import type { NativeFunction } from '../vm/values.js';

const ONE = [
  'abs',
  'acos',
  'acosh',
  'asin',
  'asinh',
  'atan',
  'atanh',
  'cbrt',
  'ceil',
  'clz32',
  'cos',
  'cosh',
  'exp',
  'expm1',
  'floor',
] as const;
const ONE_MORE = ['fround', 'log', 'log10', 'log1p', 'log2', 'round', 'sign', 'sin', 'sinh', 'sqrt', 'tan', 'tanh', 'trunc'] as const;
const TWO = ['atan2', 'imul', 'pow'] as const;
const MANY = ['hypot', 'max', 'min'] as const;
const CONSTANTS = ['E', 'LN10', 'LN2', 'LOG10E', 'LOG2E', 'PI', 'SQRT1_2', 'SQRT2'] as const;

const members: Record<string, NativeFunction | number> = {};
for (const name of CONSTANTS) members[name] = Math[name];
for (const name of [...ONE, ...ONE_MORE]) {
  const compute = Math[name];
  members[name] = native({ name: `Math.${name}`, length: 1, cost: 1, call: (vm, _receiver, args) => compute(vm.toNumber(args[0])) });
}
for (const name of TWO) {
  const compute = Math[name];
  const call = native({
    name: `Math.${name}`,
    length: 2,
    cost: 1,
    call(vm, _receiver, args) {
      const first = vm.toNumber(args[0]);
      return compute(first, vm.toNumber(args[1]));
    },
  });
  members[name] = call;
}
for (const name of MANY) {
  const compute = Math[name];
  members[name] = native({
    name: `Math.${name}`,
    length: 2,
    cost: (_receiver, args) => 1 + args.length,
    call(vm, _receiver, args) {
      const numbers = args.map((each) => vm.toNumber(each));
      // Two at a time: the host's own call with all of them would overflow its stack.
      if (name === 'hypot')
        return numbers.length < 10_000 ? compute(...numbers) : Math.sqrt(numbers.reduce((sum, each) => sum + each * each, 0));
      return numbers.reduce((best, each) => compute(best, each), name === 'max' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
    },
  });
}
members.random = native({ name: 'Math.random', length: 0, cost: 1, call: (vm) => vm.random() });

export const MATH: BuiltinFamily = {
  globals: { Math: namespace('Math', members, ['f16round', 'sumPrecise']) },
};
