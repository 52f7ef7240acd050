// Array methods that do not change their array and call no flow code.
import { NeedsCoercion } from '../vm/exceptions.js';
import { LONG, type Machine, type NativeCost, native, PAUSE, type Steps } from '../vm/native.js';
import { LONG_LIST } from '../vm/properties.js';
import { ArrayObject, isCallable, type NativeFunction, type Value } from '../vm/values.js';
import { clampedIndex, elementsOfLength, insertAt, lengthAtStart } from './array-index.js';
import { byAll, byReceiver, sizeOf } from './cost.js';
import { joinArray, joinSteps } from './join.js';
import { thisArray } from './receiver.js';

type Read = (vm: Machine, array: ArrayObject, args: readonly Value[]) => Value;

function method(name: string, length: number, cost: NativeCost, read: Read): NativeFunction {
  return native({
    name: `Array.prototype.${name}`,
    length,
    cost,
    call: (vm, receiver, args) => read(vm, thisArray(vm, receiver, name), args),
  });
}

export const ARRAY_READS: readonly NativeFunction[] = [
  method('at', 1, 1, (vm, array, [index]) => {
    const length = lengthAtStart(vm, array);
    const relative = vm.toInteger(index);
    const at = relative < 0 ? length + relative : relative;
    return at < length ? array.elements[at] : undefined;
  }),
  method('concat', 1, concatCost, concat),
  method('entries', 0, 1, (vm, array) => vm.newIterator(array, 'entries')),
  native({
    name: 'Array.prototype.flat',
    length: 0,
    cost: 1,
    call(vm, receiver, [depth]) {
      const { elements } = thisArray(vm, receiver, 'flat');
      const target: Value[] = [];
      const left = flattenShort(elements, depth === undefined ? 1 : vm.toInteger(depth), target, LONG_LIST);
      if (left < 0) return LONG;
      vm.charge(2 * (LONG_LIST - left));
      return vm.newArray(target);
    },
    *steps(vm, receiver, [depth]) {
      const array = thisArray(vm, receiver, 'flat');
      const { length } = array.elements;
      const levels = depth === undefined ? 1 : yield* vm.toIntegerSteps(depth);
      return vm.newArray(yield* flatten(vm, elementsOfLength(vm, array, length), levels));
    },
  }),
  // On an empty array JavaScript returns before it converts the second argument.
  method('includes', 1, searchCost, (vm, array, [wanted, from]) => {
    const length = lengthAtStart(vm, array);
    if (length === 0) return false;
    const start = clampedIndex(vm, from, length, 0);
    return elementsOfLength(vm, array, length).includes(wanted, start);
  }),
  method('indexOf', 1, searchCost, (vm, array, [wanted, from]) => {
    const length = lengthAtStart(vm, array);
    if (length === 0) return -1;
    const start = clampedIndex(vm, from, length, 0);
    return elementsOfLength(vm, array, length).indexOf(wanted, start);
  }),
  native({
    name: 'Array.prototype.join',
    length: 1,
    cost: byReceiver,
    call: (vm, receiver, [separator]) => {
      const array = thisArray(vm, receiver, 'join');
      return joinArray(vm, array, separator === undefined ? ',' : vm.toString(separator));
    },
    *steps(vm, receiver, [separator]) {
      return yield* joinSteps(vm, thisArray(vm, receiver, 'join'), separator);
    },
  }),
  method('keys', 0, 1, (vm, array) => vm.newIterator(array, 'keys')),
  method('lastIndexOf', 1, searchCost, (vm, array, args) => {
    const length = lengthAtStart(vm, array);
    if (args.length < 2 || length === 0) return array.elements.lastIndexOf(args[0]);
    const from = vm.toInteger(args[1]);
    return elementsOfLength(vm, array, length).lastIndexOf(args[0], from);
  }),
  method('slice', 2, byReceiver, (vm, array, [start, end]) => {
    const length = lengthAtStart(vm, array);
    const from = clampedIndex(vm, start, length, 0);
    const to = clampedIndex(vm, end, length, length);
    vm.chargeElements(Math.max(0, to - from));
    return vm.newArray(elementsOfLength(vm, array, length).slice(from, to));
  }),
  method('toReversed', 0, byReceiver, (vm, { elements }) => {
    vm.chargeElements(elements.length);
    return vm.newArray(Array.from(elements).reverse());
  }),
  method('toSpliced', 2, byAll, toSpliced),
  native({
    name: 'Array.prototype.toString',
    length: 0,
    cost: byReceiver,
    call(vm, receiver) {
      const array = thisArray(vm, receiver, 'toString');
      if (!hasOwnJoin(array)) return joinArray(vm, array, ',');
      if (isCallable(array.props?.join)) throw new NeedsCoercion(array, 'string');
      return '[object Array]';
    },
    *steps(vm, receiver) {
      const array = thisArray(vm, receiver, 'toString');
      if (hasOwnJoin(array)) return yield { fn: array.props?.join, args: [], receiver: array };
      return yield* joinSteps(vm, array, undefined);
    },
  }),
  method('values', 0, 1, (vm, array) => vm.newIterator(array, 'values')),
  method('with', 2, byReceiver, (vm, array, [index, value]) => {
    const length = lengthAtStart(vm, array);
    const relative = vm.toInteger(index);
    const at = relative < 0 ? length + relative : relative;
    if (at < 0 || at >= length) throw vm.error('RangeError', `with() was given the index ${relative} for an array of length ${length}`);
    vm.chargeElements(length);
    const copy = Array.from(elementsOfLength(vm, array, length));
    copy[at] = value;
    return vm.newArray(copy);
  }),
];

// A long string is compared with every element, to its end if they differ only there.
function searchCost(receiver: Value, [wanted]: readonly Value[]): number {
  const size = sizeOf(receiver);
  return typeof wanted === 'string' ? size * (1 + (wanted.length >> 7)) : size;
}

// Every array among the arguments copies what was collected before it.
function concatCost(receiver: Value, args: readonly Value[]): number {
  let collected = sizeOf(receiver);
  let sum = collected;
  for (const each of args) {
    collected += sizeOf(each);
    sum += each instanceof ArrayObject ? collected : 1;
  }
  return sum;
}

function concat(vm: Machine, array: ArrayObject, args: readonly Value[]): Value {
  let length = array.elements.length;
  for (const each of args) length += each instanceof ArrayObject ? each.elements.length : 1;
  vm.chargeElements(length);
  // The host's concat keeps holes; a flow array among the arguments is not a host array, so its elements are passed.
  let result = array.elements.slice();
  for (const each of args) {
    if (each instanceof ArrayObject) result = result.concat(each.elements);
    else result.push(each);
  }
  return vm.newArray(result);
}

// Deeper than any real nesting.
const DEEPEST = 2_000;

/** `String(array)` calls the `join` that the array has. */
function hasOwnJoin({ props }: ArrayObject): boolean {
  return props !== null && 'join' in props;
}

/** Gives up after `most` elements: returns how many of these are left, or less than none. */
function flattenShort(elements: readonly Value[], depth: number, target: Value[], most: number): number {
  let left = most - elements.length;
  for (let at = 0; at < elements.length && left >= 0; at++) {
    const each = elements[at];
    if (depth >= 1 && each instanceof ArrayObject) left = flattenShort(each.elements, depth - 1, target, left - 1);
    else if (each !== undefined || at in elements) target.push(each);
  }
  return left;
}

/** An array that is being flattened, and the place in it. */
interface Flattened {
  readonly elements: readonly Value[];
  at: number;
}

function* flatten(vm: Machine, elements: readonly Value[], depth: number): Steps<Value[]> {
  const target: Value[] = [];
  vm.hold(target);
  const open: Flattened[] = [{ elements, at: 0 }];
  for (let level = open[0]; level !== undefined; level = open[open.length - 1]) {
    if (vm.isDue) yield PAUSE;
    const at = level.at++;
    if (at >= level.elements.length) {
      open.pop();
      continue;
    }
    vm.charge(2);
    if (!(at in level.elements)) continue;
    const each = level.elements[at];
    if (open.length <= depth && each instanceof ArrayObject) {
      if (open.length > DEEPEST)
        throw vm.error('RangeError', 'flat() was given arrays that are nested too deeply, or that contain themselves');
      open.push({ elements: each.elements, at: 0 });
    } else {
      vm.chargeElements(1);
      target.push(each);
    }
  }
  return target;
}

function toSpliced(vm: Machine, array: ArrayObject, args: readonly Value[]): Value {
  const length = lengthAtStart(vm, array);
  const start = clampedIndex(vm, args[0], length, 0);
  const count = args.length === 0 ? 0 : args.length === 1 ? length - start : Math.min(Math.max(vm.toInteger(args[1]), 0), length - start);
  vm.chargeElements(length - count + Math.max(0, args.length - 2));
  const copy = Array.from(elementsOfLength(vm, array, length));
  copy.splice(start, count);
  insertAt(copy, start, args.slice(2));
  return vm.newArray(copy);
}
