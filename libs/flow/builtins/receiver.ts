// Checks that a method was called on the kind of value it belongs to.
import type { Machine } from '../vm/native.js';
import { ArrayObject, DateObject, ErrorObject, IteratorObject, MapObject, SetObject, type Value } from '../vm/values.js';

export function thisArray(vm: Machine, receiver: Value, method: string): ArrayObject {
  if (receiver instanceof ArrayObject) return receiver;
  throw wrongReceiver(vm, `Array.prototype.${method}`, 'an array');
}

/** An array that is about to be changed. */
export function writableArray(vm: Machine, receiver: Value, method: string): ArrayObject {
  const array = thisArray(vm, receiver, method);
  if (array.frozen) throw vm.error('TypeError', `Cannot ${method} on a frozen array`);
  return array;
}

/** The string that a method works on; like JavaScript it takes any receiver but undefined and null. */
export function thisString(vm: Machine, receiver: Value, method: string): string {
  if (typeof receiver === 'string') return receiver;
  if (receiver === undefined || receiver === null) throw wrongReceiver(vm, `String.prototype.${method}`, 'a string');
  return vm.toString(receiver);
}

export function thisNumber(vm: Machine, receiver: Value, method: string): number {
  if (typeof receiver === 'number') return receiver;
  throw wrongReceiver(vm, `Number.prototype.${method}`, 'a number');
}

export function thisDate(vm: Machine, receiver: Value, method: string): DateObject {
  if (receiver instanceof DateObject) return receiver;
  throw wrongReceiver(vm, `Date.prototype.${method}`, 'a Date');
}

export function thisMap(vm: Machine, receiver: Value, method: string): MapObject {
  if (receiver instanceof MapObject) return receiver;
  throw wrongReceiver(vm, `Map.prototype.${method}`, 'a Map');
}

export function thisSet(vm: Machine, receiver: Value, method: string): SetObject {
  if (receiver instanceof SetObject) return receiver;
  throw wrongReceiver(vm, `Set.prototype.${method}`, 'a Set');
}

export function thisIterator(vm: Machine, receiver: Value): IteratorObject {
  if (receiver instanceof IteratorObject) return receiver;
  throw wrongReceiver(vm, 'next', 'an iterator');
}

export function thisError(vm: Machine, receiver: Value): ErrorObject {
  if (receiver instanceof ErrorObject) return receiver;
  throw wrongReceiver(vm, 'Error.prototype.toString', 'an error');
}

export function wrongReceiver(vm: Machine, method: string, wanted: string): Error {
  return vm.error('TypeError', `${method} was called on something that is not ${wanted}. Call it as a method: value.method(…).`);
}
