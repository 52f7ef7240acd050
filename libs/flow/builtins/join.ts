// Writes an array as a string, as `join` and `String(array)` do: nested arrays too, and nothing for one that contains itself.
import { NeedsCoercion } from '../vm/exceptions.js';
import { type Machine, PAUSE, type Steps } from '../vm/native.js';
import { LONG_LIST } from '../vm/properties.js';
import { ArrayObject, HeapObject, type Value } from '../vm/values.js';
import { Pieces } from './pieces.js';

const DEEPEST = 2_000;

/** The machine with the arrays that are being joined. */
type Joiner = Machine & { readonly joining: ArrayObject[] };

/** Directly, unless an element must be converted by flow code. */
export function joinArray(machine: Machine, array: ArrayObject, separator: string): string {
  const vm = machine as Joiner;
  const { elements } = array;
  const { length } = elements;
  if (length === 0 || vm.joining.includes(array)) return '';
  // A long one is written in slices.
  if (length > LONG_LIST) throw new NeedsCoercion(array, 'string');
  begin(vm, length, separator);
  vm.joining.push(array);
  try {
    let size = 0;
    const parts: string[] = [];
    for (let i = 0; i < length; i++) {
      const part = partOf(vm, elements[i]);
      size += part.length;
      parts.push(part);
    }
    vm.chargeString(size);
    return parts.join(separator);
  } finally {
    vm.joining.pop();
  }
}

/** The same, element by element: what flow code does to the array meanwhile affects the elements that follow. */
export function* joinSteps(machine: Machine, array: ArrayObject, separator: Value): Steps<string> {
  const vm = machine as Joiner;
  const { elements } = array;
  const { length } = elements;
  const between = separator === undefined ? ',' : yield* vm.toStringSteps(separator);
  if (length === 0 || vm.joining.includes(array)) return '';
  begin(vm, length, between);
  vm.joining.push(array);
  try {
    const pieces = new Pieces(vm, between);
    for (let i = 0; i < length; i++) {
      if (vm.isDue) yield PAUSE;
      const value = elements[i];
      let part = '';
      if (value instanceof HeapObject) part = yield* vm.toStringSteps(value);
      else if (value !== undefined && value !== null) {
        vm.charge(typeof value === 'string' ? 1 : 4);
        part = String(value);
      }
      vm.chargeString(part.length);
      pieces.add(part);
    }
    return pieces.text();
  } finally {
    vm.joining.pop();
  }
}

/** The separators alone can be the attack (a long one in a long array of holes), so they are charged before any part. */
function begin(vm: Joiner, length: number, separator: string): void {
  if (vm.joining.length >= DEEPEST) throw vm.error('RangeError', 'join() was given arrays that are nested too deeply');
  vm.charge(length);
  vm.chargeElements(length);
  vm.chargeString(separator.length * (length - 1));
}

function partOf(vm: Joiner, value: Value): string {
  if (value === undefined || value === null) return '';
  if (!(value instanceof ArrayObject) || value.props !== null) return vm.toString(value);
  vm.charge(1 + value.elements.length);
  return joinArray(vm, value, ',');
}
