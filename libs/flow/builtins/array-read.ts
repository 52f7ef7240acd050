// Array methods that leave their array alone and call no flow code.
import { type Machine, type NativeCost, native } from '../vm/native.js';
import { ArrayObject, type NativeFunction, type Value } from '../vm/values.js';
import { clampedIndex, insertAt } from './array-index.js';
import { byAll, byReceiver, sizeOf } from './cost.js';
import { joinArray } from './join.js';
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
  method('at', 1, 1, (vm, { elements }, [index]) => {
    const at = vm.toInteger(index);
    return elements[at < 0 ? elements.length + at : at];
  }),
  method('concat', 1, concatCost, concat),
  method('entries', 0, 1, (vm, array) => vm.newIterator(array, 'entries')),
  method('flat', 0, byReceiver, (vm, array, [depth]) => {
    const target: Value[] = [];
    flatten(vm, array, depth === undefined ? 1 : vm.toInteger(depth), target, 0);
    return vm.newArray(target);
  }),
  // On an empty array JavaScript answers before it looks at the second argument.
  method('includes', 1, searchCost, (vm, { elements }, [wanted, from]) => {
    return elements.length > 0 && elements.includes(wanted, clampedIndex(vm, from, elements.length, 0));
  }),
  method('indexOf', 1, searchCost, (vm, { elements }, [wanted, from]) => {
    return elements.length === 0 ? -1 : elements.indexOf(wanted, clampedIndex(vm, from, elements.length, 0));
  }),
  method('join', 1, byReceiver, (vm, array, [separator]) => joinArray(vm, array, separator === undefined ? ',' : vm.toString(separator))),
  method('keys', 0, 1, (vm, array) => vm.newIterator(array, 'keys')),
  method('lastIndexOf', 1, searchCost, (vm, { elements }, args) => {
    if (args.length < 2 || elements.length === 0) return elements.lastIndexOf(args[0]);
    return elements.lastIndexOf(args[0], vm.toInteger(args[1]));
  }),
  method('slice', 2, byReceiver, (vm, { elements }, [start, end]) => {
    const from = clampedIndex(vm, start, elements.length, 0);
    const to = clampedIndex(vm, end, elements.length, elements.length);
    vm.chargeElements(Math.max(0, to - from));
    return vm.newArray(elements.slice(from, to));
  }),
  method('toReversed', 0, byReceiver, (vm, { elements }) => {
    vm.chargeElements(elements.length);
    return vm.newArray(Array.from(elements).reverse());
  }),
  method('toSpliced', 2, byAll, toSpliced),
  method('toString', 0, byReceiver, (vm, array) => joinArray(vm, array, ',')),
  method('values', 0, 1, (vm, array) => vm.newIterator(array, 'values')),
  method('with', 2, byReceiver, (vm, { elements }, [index, value]) => {
    const relative = vm.toInteger(index);
    const at = relative < 0 ? elements.length + relative : relative;
    if (at < 0 || at >= elements.length)
      throw vm.error('RangeError', `with() was given the index ${relative} of an array of ${elements.length}`);
    vm.chargeElements(elements.length);
    const copy = Array.from(elements);
    copy[at] = value;
    return vm.newArray(copy);
  }),
];

// A long text is compared with every element, to its end if that differs only there.
function searchCost(receiver: Value, [wanted]: readonly Value[]): number {
  const size = sizeOf(receiver);
  return typeof wanted === 'string' ? size * (1 + (wanted.length >> 7)) : size;
}

// Every array among the arguments copies what was gathered before it.
function concatCost(receiver: Value, args: readonly Value[]): number {
  let gathered = sizeOf(receiver);
  let sum = gathered;
  for (const each of args) {
    gathered += sizeOf(each);
    sum += each instanceof ArrayObject ? gathered : 1;
  }
  return sum;
}

function concat(vm: Machine, array: ArrayObject, args: readonly Value[]): Value {
  let length = array.elements.length;
  for (const each of args) length += each instanceof ArrayObject ? each.elements.length : 1;
  vm.chargeElements(length);
  // The host's concat keeps holes; a flow array among the arguments is no host array, so its elements are handed over.
  let result = array.elements.slice();
  for (const each of args) {
    if (each instanceof ArrayObject) result = result.concat(each.elements);
    else result.push(each);
  }
  return vm.newArray(result);
}

// Deeper than any honest nesting, and shallower than the host's stack.
const DEEPEST = 2_000;

function flatten(vm: Machine, { elements }: ArrayObject, depth: number, target: Value[], level: number): void {
  if (level > DEEPEST) throw vm.error('RangeError', 'flat() was given arrays that are nested too deeply, or that contain themselves');
  for (let i = 0; i < elements.length; i++) {
    vm.charge(1);
    if (!(i in elements)) continue;
    const each = elements[i];
    if (depth >= 1 && each instanceof ArrayObject) flatten(vm, each, depth - 1, target, level + 1);
    else {
      vm.chargeElements(1);
      target.push(each);
    }
  }
}

function toSpliced(vm: Machine, { elements }: ArrayObject, args: readonly Value[]): Value {
  const { length } = elements;
  const start = clampedIndex(vm, args[0], length, 0);
  const count = args.length === 0 ? 0 : args.length === 1 ? length - start : Math.min(Math.max(vm.toInteger(args[1]), 0), length - start);
  vm.chargeElements(length - count + Math.max(0, args.length - 2));
  const copy = Array.from(elements);
  copy.splice(start, count);
  insertAt(copy, start, args.slice(2));
  return vm.newArray(copy);
}
