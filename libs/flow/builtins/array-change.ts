// Array methods that change their array and call no flow code. Coercions first, then the charge, then the change.
import { ELEMENT_BYTES, FIRST_ELEMENT_BYTES } from '../vm/memory.js';
import { type Machine, type NativeCost, native } from '../vm/native.js';
import { setElement } from '../vm/properties.js';
import type { ArrayObject, NativeFunction, Value } from '../vm/values.js';
import { clampedIndex, elementsOfLength, insertAt, lengthAtStart } from './array-index.js';
import { byAll, byReceiver } from './cost.js';
import { thisArray, writableArray } from './receiver.js';

type Change = (vm: Machine, array: ArrayObject, args: readonly Value[]) => Value;

/** A method that always writes (`length` at least), so a frozen array refuses it whatever it holds. */
function always(name: string, length: number, cost: NativeCost, change: Change): NativeFunction {
  return native({
    name: `Array.prototype.${name}`,
    length,
    cost,
    call: (vm, receiver, args) => change(vm, writableArray(vm, receiver, name), args),
  });
}

/** A method that writes only where there is something to write. */
function perhaps(name: string, length: number, change: Change): NativeFunction {
  const cost = byReceiver;
  return native({
    name: `Array.prototype.${name}`,
    length,
    cost,
    call: (vm, receiver, args) => change(vm, thisArray(vm, receiver, name), args),
  });
}

export const ARRAY_CHANGES: readonly NativeFunction[] = [
  perhaps('copyWithin', 2, (vm, array, [target, start, end]) => {
    const length = lengthAtStart(vm, array);
    const to = clampedIndex(vm, target, length, 0);
    const from = clampedIndex(vm, start, length, 0);
    const until = clampedIndex(vm, end, length, length);
    const count = Math.min(until - from, length - to);
    if (count > 0) copyPart(vm, writableArray(vm, array, 'copyWithin'), to, from, count, length);
    return array;
  }),
  perhaps('fill', 1, (vm, array, [value, start, end]) => {
    const length = lengthAtStart(vm, array);
    const from = clampedIndex(vm, start, length, 0);
    const until = clampedIndex(vm, end, length, length);
    if (until <= from) return array;
    const { elements } = writableArray(vm, array, 'fill');
    // Where the array became shorter meanwhile, it grows again.
    if (until > elements.length) setElement(vm, array, until - 1, value);
    elements.fill(value, from, until);
    return array;
  }),
  always('pop', 0, 1, (_vm, { elements }) => elements.pop()),
  always(
    'push',
    1,
    (_receiver, args) => 1 + args.length,
    (vm, { elements }, args) => {
      vm.chargeBytes(args.length * ELEMENT_BYTES + (elements.length === 0 ? FIRST_ELEMENT_BYTES : 0));
      for (const each of args) elements.push(each);
      return elements.length;
    },
  ),
  perhaps('reverse', 0, (vm, array) => {
    if (array.elements.length > 1) writableArray(vm, array, 'reverse').elements.reverse();
    return array;
  }),
  always('shift', 0, byReceiver, (_vm, { elements }) => elements.shift()),
  native({
    name: 'Array.prototype.splice',
    length: 2,
    cost: byAll,
    call(vm, receiver, args) {
      const array = thisArray(vm, receiver, 'splice');
      const length = lengthAtStart(vm, array);
      const start = clampedIndex(vm, args[0], length, 0);
      const count =
        args.length === 0 ? 0 : args.length === 1 ? length - start : Math.min(Math.max(vm.toInteger(args[1]), 0), length - start);
      const { elements } = writableArray(vm, array, 'splice');
      vm.chargeElements(count + Math.max(0, args.length - 2));
      cutToLength(vm, array, length);
      const removed = elements.splice(start, count);
      insertAt(elements, start, args.slice(2));
      return vm.newArray(removed);
    },
  }),
  always('unshift', 1, byAll, (vm, { elements }, args) => {
    vm.chargeElements(args.length);
    insertAt(elements, 0, args);
    return elements.length;
  }),
];

/** Moves elements as `copyWithin` does, using a length that the array may not have any more. */
function copyPart(vm: Machine, array: ArrayObject, to: number, from: number, count: number, length: number): void {
  const { elements } = array;
  if (elements.length === length) {
    elements.copyWithin(to, from, from + count);
    return;
  }
  const source = elementsOfLength(vm, array, length).slice(from, from + count);
  for (let i = 0; i < count; i++) {
    vm.charge(1);
    if (i in source) setElement(vm, array, to + i, source[i]);
    else delete elements[to + i];
  }
}

/** A method that uses the length it read at its start also writes that length, whatever the array became meanwhile. */
function cutToLength(vm: Machine, array: ArrayObject, length: number): void {
  const { elements } = array;
  if (elements.length < length) vm.chargeElements(length - elements.length);
  elements.length = length;
}
