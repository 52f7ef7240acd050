// Built-in iterators: what `for…of`, spread and destructuring walk. There are no others, so no flow code ever runs here.

import { DONE, type Machine } from './native.js';
import { hasOwn, typeNameOf } from './properties.js';
import { ArrayObject, CollectionObject, HeapObject, IteratorObject, MapObject, type Value } from './values.js';

/** V8 shares the strings of one Latin character; the others are made. */
const CHARACTER_BYTES = 24;

export function iteratorOf(vm: Machine, value: Value): IteratorObject {
  if (value instanceof ArrayObject || typeof value === 'string') return new IteratorObject(value, 'values');
  if (value instanceof CollectionObject) return new IteratorObject(value, value instanceof MapObject ? 'entries' : 'values');
  if (value instanceof IteratorObject && value.owner === null) return value;
  const what = value === undefined || value === null ? String(value) : `a value of type ${typeNameOf(value)}`;
  throw vm.error('TypeError', `${what} is not iterable`);
}

/** The keys of `for…in`: own enumerable ones; those that are deleted before their turn are skipped. */
export function keysOf(vm: Machine, value: Value): IteratorObject {
  if (value === undefined || value === null) return new IteratorObject(null, 'values');
  return keysIterator(value, vm.newArray(vm.ownKeys(value)));
}

export function keysIterator(value: Value, keys: ArrayObject): IteratorObject {
  return new IteratorObject(keys, 'values', value instanceof HeapObject ? value : null);
}

export function nextOf(vm: Machine, iterator: IteratorObject): Value | typeof DONE {
  const { target, mode } = iterator;
  if (target instanceof ArrayObject) {
    for (;;) {
      const at = iterator.position++;
      if (at >= target.elements.length) break;
      if (iterator.owner !== null && !hasOwn(vm, iterator.owner, target.elements[at] as string)) continue;
      if (mode === 'values') return target.elements[at];
      return mode === 'keys' ? at : vm.newArray([at, target.elements[at]]);
    }
  } else if (typeof target === 'string') {
    const code = target.codePointAt(iterator.position);
    if (code !== undefined) {
      const text = String.fromCodePoint(code);
      // A lone surrogate is one unit and stays itself.
      const unit = code > 0xffff ? text : target[iterator.position];
      iterator.position += unit.length;
      if (code > 0xff) vm.chargeBytes(CHARACTER_BYTES);
      return unit;
    }
  } else if (target !== null) {
    const at = target.seek(iterator.position);
    if (at >= 0) {
      iterator.position = target.numbers[at] + 1;
      const key = target.keys[at] as Value;
      if (mode === 'keys') return key;
      const value = target instanceof MapObject ? target.values[at] : key;
      return mode === 'values' ? value : vm.newArray([key, value]);
    }
  }
  iterator.target = null;
  return DONE;
}
