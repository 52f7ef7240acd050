// Positions in arrays and strings: how JavaScript reads a relative index, and how many elements are inserted without overflowing the host's stack.
import type { Machine } from '../vm/native.js';
import type { ArrayObject, Value } from '../vm/values.js';

/** A relative index (negative counts from the end) clamped to 0…length; `fallback` replaces `undefined`. */
export function clampedIndex(vm: Machine, value: Value, length: number, fallback: number): number {
  if (value === undefined) return fallback;
  const index = vm.toInteger(value);
  return index < 0 ? Math.max(length + index, 0) : Math.min(index, length);
}

/** The length before any argument is converted: JavaScript reads it first, and converting an argument may change the array. */
export function lengthAtStart(vm: Machine, { elements }: ArrayObject): number {
  return vm.atStart(elements.length);
}

/** The elements for a method that uses a length it read before they changed: missing ones are holes. */
export function elementsOfLength(vm: Machine, { elements }: ArrayObject, length: number): readonly Value[] {
  if (elements.length === length) return elements;
  vm.charge(length);
  vm.chargeElements(length);
  const copy = elements.slice(0, length);
  copy.length = length;
  return copy;
}

// Host calls with spread arguments overflow at about 120,000 of them.
const CHUNK = 10_000;

/** Inserts any number of items at a position. */
export function insertAt(elements: Value[], position: number, items: readonly Value[]): void {
  for (let end = items.length; end > 0; end -= CHUNK) elements.splice(position, 0, ...items.slice(Math.max(0, end - CHUNK), end));
}
