// What the work of a built-in costs, from the size of what it touches: one unit per element or per 16 characters.
import { ArrayObject, CollectionObject, type Value } from '../vm/values.js';

/** The size of a value as work: elements, entries, or characters divided by 16. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return 1 + (value.length >> 4);
  if (value instanceof ArrayObject) return 1 + value.elements.length;
  if (value instanceof CollectionObject) return 1 + value.keys.length;
  return 1;
}

/** For methods that walk their receiver. */
export function byReceiver(receiver: Value): number {
  return sizeOf(receiver);
}

/** For functions that walk their first argument. */
export function byFirst(_receiver: Value, args: readonly Value[]): number {
  return sizeOf(args[0]);
}

/** For functions that walk every argument. */
export function byArguments(_receiver: Value, args: readonly Value[]): number {
  let sum = 1;
  for (const each of args) sum += sizeOf(each);
  return sum;
}

/** For methods that walk their receiver and every argument. */
export function byAll(receiver: Value, args: readonly Value[]): number {
  return sizeOf(receiver) + byArguments(receiver, args);
}
