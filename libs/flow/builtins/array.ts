// `Array`: the constructor with its statics, and the table of array methods.
import { type BuiltinFamily, call, DONE, type Machine, methods, native, PAUSE, type Steps } from '../vm/native.js';
import { ArrayObject, HeapObject, IteratorObject, MapObject, SetObject, type Value } from '../vm/values.js';
import { ARRAY_CALLBACKS } from './array-callbacks.js';
import { ARRAY_CHANGES } from './array-change.js';
import { ARRAY_READS } from './array-read.js';
import { ARRAY_SORTS } from './array-sort.js';

const MAX_LENGTH = 2 ** 32 - 1;

function construct(vm: Machine, _receiver: Value, args: readonly Value[]): Value {
  if (args.length !== 1 || typeof args[0] !== 'number') return listOf(vm, args);
  const length = args[0];
  if (length < 0 || length > MAX_LENGTH || !Number.isInteger(length)) throw vm.error('RangeError', `Invalid array length: ${length}`);
  vm.chargeElements(length);
  vm.charge(length);
  return vm.newArray(new Array(length));
}

function listOf(vm: Machine, args: readonly Value[]): Value {
  vm.chargeElements(args.length);
  return vm.newArray(args.slice());
}

function isIterable(value: Value): boolean {
  return (
    typeof value === 'string' ||
    value instanceof ArrayObject ||
    value instanceof MapObject ||
    value instanceof SetObject ||
    value instanceof IteratorObject
  );
}

function* from(vm: Machine, _receiver: Value, [items, mapper]: readonly Value[]): Steps<Value> {
  if (mapper !== undefined) vm.requireCallable(mapper, 'The second argument of Array.from()');
  if (items === undefined || items === null) throw vm.error('TypeError', `Array.from() cannot read ${items}`);
  const target: Value[] = [];
  vm.hold(target);
  if (isIterable(items)) {
    const iterator = vm.iteratorOf(items);
    for (let each = vm.next(iterator); each !== DONE; each = vm.next(iterator)) {
      vm.chargeElements(1);
      target.push(mapper === undefined ? each : yield call(mapper, each, target.length));
      if (vm.isDue) yield PAUSE;
    }
    return vm.newArray(target);
  }
  const length = items instanceof HeapObject ? yield* vm.toIntegerSteps(vm.getProperty(items, 'length')) : 0;
  if (length > MAX_LENGTH) throw vm.error('RangeError', `Invalid array length: ${length}`);
  for (let i = 0; i < length; i++) {
    vm.charge(8);
    vm.chargeElements(1);
    const each = vm.getProperty(items, String(i));
    target.push(mapper === undefined ? each : yield call(mapper, each, i));
    if (vm.isDue) yield PAUSE;
  }
  return vm.newArray(target);
}

const ARRAY = native(
  {
    name: 'Array',
    length: 1,
    cost: (_receiver, args) => 1 + args.length,
    call: construct,
    construct,
    hasInstance: (value) => value instanceof ArrayObject,
    unsupportedStatics: ['fromAsync', 'prototype'],
  },
  {
    from: native({ name: 'Array.from', length: 1, cost: 2, steps: from }),
    isArray: native({ name: 'Array.isArray', length: 1, cost: 1, call: (_vm, _receiver, args) => args[0] instanceof ArrayObject }),
    of: native({
      name: 'Array.of',
      length: 0,
      cost: (_receiver, args) => 1 + args.length,
      call: (vm, _receiver, args) => listOf(vm, args),
    }),
  },
);

export const ARRAYS: BuiltinFamily = {
  globals: { Array: ARRAY },
  types: {
    array: {
      methods: methods([...ARRAY_READS, ...ARRAY_CHANGES, ...ARRAY_CALLBACKS, ...ARRAY_SORTS]),
      unsupported: ['toLocaleString', 'constructor'],
    },
  },
};
