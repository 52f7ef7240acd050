// Array methods that call a function for their elements. They read each element when its turn comes, up to the initial length.
import { call, type Machine, native, PAUSE, type Steps } from '../vm/native.js';
import { ArrayObject, type NativeFunction, type Value } from '../vm/values.js';
import { byReceiver } from './cost.js';
import { thisArray } from './receiver.js';

type Walk = (vm: Machine, array: ArrayObject, fn: Value, args: readonly Value[]) => Steps<Value>;

function method(name: string, walk: Walk): NativeFunction {
  return native({
    name: `Array.prototype.${name}`,
    length: 1,
    cost: byReceiver,
    *steps(vm, receiver, args) {
      const array = thisArray(vm, receiver, name);
      vm.requireCallable(args[0], `The argument of ${name}()`);
      return yield* walk(vm, array, args[0], args);
    },
  });
}

/** `find` and its variants see holes as undefined. */
function* find(array: ArrayObject, fn: Value, fromEnd: boolean): Steps<number> {
  const { elements } = array;
  const { length } = elements;
  for (let n = 0; n < length; n++) {
    const i = fromEnd ? length - 1 - n : n;
    if (yield call(fn, elements[i], i, array)) return i;
  }
  return -1;
}

function* fold(vm: Machine, array: ArrayObject, fn: Value, args: readonly Value[], fromEnd: boolean): Steps<Value> {
  const { elements } = array;
  const { length } = elements;
  let n = 0;
  let result = args[1];
  if (args.length < 2) {
    while (n < length && !((fromEnd ? length - 1 - n : n) in elements)) n++;
    if (n === length) throw vm.error('TypeError', 'Reduce of an empty array with no initial value. Give one as the second argument.');
    result = elements[fromEnd ? length - 1 - n : n];
    n++;
  }
  for (; n < length; n++) {
    const i = fromEnd ? length - 1 - n : n;
    if (i in elements) result = yield call(fn, result, elements[i], i, array);
  }
  return result;
}

export const ARRAY_CALLBACKS: readonly NativeFunction[] = [
  method('every', function* (_vm, array, fn) {
    const { elements } = array;
    for (let i = 0, { length } = elements; i < length; i++) if (i in elements && !(yield call(fn, elements[i], i, array))) return false;
    return true;
  }),
  method('filter', function* (vm, array, fn) {
    const { elements } = array;
    const kept: Value[] = [];
    vm.hold(kept);
    for (let i = 0, { length } = elements; i < length; i++) {
      if (!(i in elements)) continue;
      const each = elements[i];
      if (!(yield call(fn, each, i, array))) continue;
      vm.chargeElements(1);
      kept.push(each);
    }
    return vm.newArray(kept);
  }),
  method('find', function* (_vm, array, fn) {
    const { elements } = array;
    for (let i = 0, { length } = elements; i < length; i++) {
      const each = elements[i];
      if (yield call(fn, each, i, array)) return each;
    }
    return undefined;
  }),
  method('findIndex', (_vm, array, fn) => find(array, fn, false)),
  method('findLast', function* (_vm, array, fn) {
    const { elements } = array;
    for (let i = elements.length - 1; i >= 0; i--) {
      const each = elements[i];
      if (yield call(fn, each, i, array)) return each;
    }
    return undefined;
  }),
  method('findLastIndex', (_vm, array, fn) => find(array, fn, true)),
  method('flatMap', function* (vm, array, fn) {
    const { elements } = array;
    const target: Value[] = [];
    vm.hold(target);
    for (let i = 0, { length } = elements; i < length; i++) {
      if (!(i in elements)) continue;
      const result = yield call(fn, elements[i], i, array);
      const parts = result instanceof ArrayObject ? result.elements : [result];
      vm.charge(parts.length);
      vm.chargeElements(parts.length);
      for (let p = 0; p < parts.length; p++) {
        if (p in parts) target.push(parts[p]);
        if (vm.isDue) yield PAUSE;
      }
    }
    return vm.newArray(target);
  }),
  method('forEach', function* (_vm, array, fn) {
    const { elements } = array;
    for (let i = 0, { length } = elements; i < length; i++) if (i in elements) yield call(fn, elements[i], i, array);
    return undefined;
  }),
  method('map', function* (vm, array, fn) {
    const { elements } = array;
    const { length } = elements;
    vm.chargeElements(length);
    const target: Value[] = new Array(length);
    vm.hold(target);
    for (let i = 0; i < length; i++) if (i in elements) target[i] = yield call(fn, elements[i], i, array);
    return vm.newArray(target);
  }),
  method('reduce', (vm, array, fn, args) => fold(vm, array, fn, args, false)),
  method('reduceRight', (vm, array, fn, args) => fold(vm, array, fn, args, true)),
  method('some', function* (_vm, array, fn) {
    const { elements } = array;
    for (let i = 0, { length } = elements; i < length; i++) if (i in elements && (yield call(fn, elements[i], i, array))) return true;
    return false;
  }),
];
