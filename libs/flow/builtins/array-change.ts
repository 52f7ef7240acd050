// Array methods that change their array and call no flow code. Coercions first, then the charge, then the change.
import { type Machine, type NativeCost, native } from '../vm/native.js';
import type { ArrayObject, NativeFunction, Value } from '../vm/values.js';
import { clampedIndex, insertAt } from './array-index.js';
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
    const { length } = array.elements;
    const to = clampedIndex(vm, target, length, 0);
    const from = clampedIndex(vm, start, length, 0);
    const until = clampedIndex(vm, end, length, length);
    if (Math.min(until - from, length - to) > 0) writableArray(vm, array, 'copyWithin').elements.copyWithin(to, from, until);
    return array;
  }),
  perhaps('fill', 1, (vm, array, [value, start, end]) => {
    const { length } = array.elements;
    const from = clampedIndex(vm, start, length, 0);
    const until = clampedIndex(vm, end, length, length);
    if (until > from) writableArray(vm, array, 'fill').elements.fill(value, from, until);
    return array;
  }),
  always('pop', 0, 1, (_vm, { elements }) => elements.pop()),
  always(
    'push',
    1,
    (_receiver, args) => 1 + args.length,
    (vm, { elements }, args) => {
      vm.chargeElements(args.length);
      for (const each of args) elements.push(each);
      return elements.length;
    },
  ),
  perhaps('reverse', 0, (vm, array) => {
    if (array.elements.length > 1) writableArray(vm, array, 'reverse').elements.reverse();
    return array;
  }),
  always('shift', 0, byReceiver, (_vm, { elements }) => elements.shift()),
  always('splice', 2, byAll, (vm, { elements }, args) => {
    const { length } = elements;
    const start = clampedIndex(vm, args[0], length, 0);
    const count = args.length === 0 ? 0 : args.length === 1 ? length - start : Math.min(Math.max(vm.toInteger(args[1]), 0), length - start);
    vm.chargeElements(count + Math.max(0, args.length - 2));
    const removed = elements.splice(start, count);
    insertAt(elements, start, args.slice(2));
    return vm.newArray(removed);
  }),
  always('unshift', 1, byAll, (vm, { elements }, args) => {
    vm.chargeElements(args.length);
    insertAt(elements, 0, args);
    return elements.length;
  }),
];
