// Writes an array as text, as `join` and `String(array)` do: nested arrays too, and nothing for one that contains itself.
import type { Machine } from '../vm/native.js';
import { ArrayObject, type Value } from '../vm/values.js';

const DEEPEST = 2_000;

export function joinArray(vm: Machine, array: ArrayObject, separator: string): string {
  return join(vm, array, separator, [array]);
}

function join(vm: Machine, { elements }: ArrayObject, separator: string, open: ArrayObject[]): string {
  const { length } = elements;
  if (length === 0) return '';
  if (open.length > DEEPEST) throw vm.error('RangeError', 'join() was given arrays that are nested too deeply');
  // The separators alone can be the attack (a long one in a long array of holes), so they are charged before any part.
  let size = separator.length * (length - 1);
  vm.charge(length);
  vm.chargeElements(length);
  vm.chargeString(size);
  const parts: string[] = [];
  for (let i = 0; i < length; i++) {
    const text = textOf(vm, elements[i], open);
    size += text.length;
    parts.push(text);
  }
  vm.chargeString(size - separator.length * (length - 1));
  return parts.join(separator);
}

function textOf(vm: Machine, value: Value, open: ArrayObject[]): string {
  if (value === undefined || value === null) return '';
  if (!(value instanceof ArrayObject) || value.props !== null) return vm.toString(value);
  if (open.includes(value)) return '';
  vm.charge(1 + value.elements.length);
  open.push(value);
  const text = join(vm, value, ',', open);
  open.pop();
  return text;
}
