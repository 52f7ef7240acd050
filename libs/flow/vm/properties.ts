// The one way to read, write, delete and list properties. Every access by key goes through here.

import { ELEMENT_BYTES, FIRST_ELEMENT_BYTES, KEY_BYTES, PROPERTIES_BYTES, PROPERTY_BYTES, SPARSE_KEY_BYTES } from './memory.js';
import type { Machine, Steps, TypeName } from './native.js';
import { PAUSE, shortName } from './native.js';
import { registry } from './registry.js';
import { renderStack } from './trace.js';
import {
  ArrayObject,
  BoundNative,
  CollectionObject,
  DateObject,
  ErrorObject,
  FunctionObject,
  HeapObject,
  IteratorObject,
  isCallable,
  MapObject,
  NamespaceObject,
  NativeFunction,
  newProperties,
  PlainObject,
  PromiseObject,
  type Properties,
  type Value,
} from './values.js';

/** V8 lists the keys of an object in one go, which takes 20 ms for this many. */
export const MOST_PROPERTIES = 100_000;
/** Fuel of a new key, which V8 hashes and stores, and of listing one. */
export const NEW_KEY = 8;
const LISTED_KEY = 6;
/** Up to here V8's array of elements is smaller than a hash table. */
const SMALL_INDEX = 16;
/** An index this far away makes V8 keep the integer keys of an object in a hash table, even after it was deleted. */
const FAR_INDEX = 4_294_967_294;
/** Longer arrays and strings are listed, copied and spread in slices. */
export const LONG_LIST = 1_000;
/** The longest string that V8 hashes by its content; longer ones all collide with those of their length (see `chargeKey`). */
export const LONGEST_HASHED = 16_383;
export const DIGIT_NINE = 57;
const MAX_ARRAY_LENGTH = 2 ** 32 - 1;

export function typeNameOf(value: Exclude<Value, undefined | null>): TypeName {
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'number':
      return 'number';
    case 'boolean':
      return 'boolean';
  }
  if (value instanceof PlainObject) return 'object';
  if (value instanceof ArrayObject) return 'array';
  if (isCallable(value)) return 'function';
  if (value instanceof ErrorObject) return 'error';
  if (value instanceof MapObject) return 'map';
  if (value instanceof CollectionObject) return 'set';
  if (value instanceof DateObject) return 'date';
  if (value instanceof PromiseObject) return 'promise';
  if (value instanceof IteratorObject) return 'iterator';
  return 'object';
}

/** The index that a key denotes, or -1: only the canonical spelling of a whole number below 2³²-1 is one. */
export function arrayIndex(key: string): number {
  const first = key.charCodeAt(0);
  if (!(first >= 48 && first <= 57) || key.length > 10) return -1;
  const index = Number(key);
  return index < MAX_ARRAY_LENGTH && Number.isInteger(index) && String(index) === key ? index : -1;
}

// Reading -------------------------------------------------------------------------------------------------------------

export function getProperty(vm: Machine, object: Value, key: string): Value {
  if (object instanceof PlainObject) {
    const value = object.props[key];
    if (value !== undefined || key in object.props) return value;
    return inherited(vm, 'object', object, key);
  }
  if (object === undefined || object === null) throw vm.error('TypeError', `Cannot read properties of ${object} (reading '${key}')`);
  if (typeof object === 'string') {
    if (key === 'length') return object.length;
    const index = arrayIndex(key);
    if (index >= 0 && index < object.length) return object[index];
    return inherited(vm, 'string', object, key);
  }
  if (!(object instanceof HeapObject)) return inherited(vm, typeNameOf(object), object, key);
  if (object instanceof ArrayObject) {
    if (key === 'length') return object.elements.length;
    const index = arrayIndex(key);
    if (index >= 0) return object.elements[index];
  } else if (object instanceof ErrorObject) {
    if (key in object.hidden) return object.hidden[key];
  } else if (isBuiltIn(object)) {
    const members = membersOf(object);
    if (key in members) return members[key];
    refuseMissing(vm, object, key);
  }
  if (object.props !== null && key in object.props) return object.props[key];
  const computed = computedProperty(vm, object, key);
  if (computed !== undefined) return computed;
  return inherited(vm, typeNameOf(object), object, key);
}

function computedProperty(vm: Machine, object: HeapObject, key: string): Value {
  if (object instanceof ErrorObject) {
    if (key === 'name') return object.errorKind;
    if (key === 'message') return '';
    if (key === 'stack') return renderStack(vm, object);
  } else if (object instanceof FunctionObject) {
    if (key === 'name') return object.givenName ?? object.code.name;
    if (key === 'length') return object.code.length;
    refuseMissing(vm, object, key);
  } else if (object instanceof NativeFunction || object instanceof BoundNative) {
    if (key === 'name') return shortName(object.definition);
    if (key === 'length') return object.definition.length;
  }
  return undefined;
}

function inherited(vm: Machine, type: TypeName, object: Value, key: string): Value {
  const { types } = registry();
  const table = types[type];
  const method = table.methods[key];
  if (method !== undefined) return method;
  const member = table.members[key];
  if (member !== undefined) return member(object as never);
  if (table.refused.has(key)) throw type === 'function' && key === 'toString' ? noSource(vm, object) : unsupported(vm, key);
  return types.object.methods[key];
}

/** Throws for what JavaScript has on this object itself and Flow does not. */
function refuseMissing(vm: Machine, object: HeapObject, key: string): void {
  if (object instanceof NamespaceObject) {
    if (object.unsupported.includes(key)) throw unsupported(vm, `${object.name}.${key}`);
  } else if (object instanceof NativeFunction) {
    if (key === 'prototype' || object.definition.unsupportedStatics?.includes(key))
      throw unsupported(vm, `${object.definition.name}.${key}`);
  } else if (object instanceof FunctionObject && key === 'prototype' && !object.code.isAsync) throw unsupported(vm, 'prototype');
}

/** In JavaScript a function converts to its source, which a running program does not have. */
function noSource(vm: Machine, fn: Value): Error {
  const name = getProperty(vm, fn, 'name');
  const what = typeof name === 'string' && name !== '' ? `The function ${name}` : 'A function';
  return vm.error('TypeError', `${what} cannot be converted to a string in Flow. Use its name, or give it a toString of its own.`);
}

function unsupported(vm: Machine, name: string): Error {
  return vm.error('TypeError', `${name} is not supported in Flow`);
}

// Writing -------------------------------------------------------------------------------------------------------------

export function setProperty(vm: Machine, object: Value, key: string, value: Value): void {
  if (!(object instanceof HeapObject)) {
    const what = object === undefined || object === null ? `properties of ${object}` : `property '${key}' on ${typeof object}`;
    throw vm.error('TypeError', `Cannot set ${what}${object === undefined || object === null ? ` (setting '${key}')` : ''}`);
  }
  if (object.frozen) throw vm.error('TypeError', `Cannot assign to '${key}' of a frozen object`);
  if (object instanceof PlainObject) {
    const { props } = object;
    if (key in props) props[key] = value;
    else {
      if (key === '__proto__') throw unsupported(vm, '__proto__');
      addProperty(vm, object, key, value);
    }
    return;
  }
  if (object instanceof ArrayObject) {
    const index = arrayIndex(key);
    if (index >= 0) return setElement(vm, object, index, value);
    if (key === 'length') {
      const uint32 = vm.toNumber(value) >>> 0;
      return setLength(vm, object, uint32, vm.toNumber(value));
    }
    // JavaScript's `map`, `slice` and others would create their result with it.
    if (key === 'constructor') throw vm.error('TypeError', `Cannot replace 'constructor' of an array`);
  } else if (object instanceof ErrorObject) {
    if (key in object.hidden) {
      object.hidden[key] = value;
      return;
    }
    if (key === 'stack') {
      if (typeof value === 'string') object.stack = value;
      else object.hidden.stack = value;
      return;
    }
  } else if (object instanceof PromiseObject && PROMISE_PARTS.includes(key)) {
    throw vm.error('TypeError', `Cannot replace '${key}' of a promise: await and the functions of Promise use it`);
  } else if (object instanceof IteratorObject && key === 'next') {
    throw vm.error('TypeError', `Cannot replace 'next' of a built-in iterator`);
  } else if (isBuiltIn(object)) {
    throw vm.error('TypeError', `Cannot change the built-in ${builtInName(object)} (setting '${key}')`);
  } else if (isCallable(object)) {
    if (key === 'name' || key === 'length') throw vm.error('TypeError', `Cannot assign to read only property '${key}' of a function`);
    refuseMissing(vm, object, key);
  }
  if (key === '__proto__') throw unsupported(vm, '__proto__');
  if (registry().types[typeNameOf(object)].members[key]) throw vm.error('TypeError', `Cannot set property ${key} which has only a getter`);
  defineOwn(vm, object, key, value);
}

/** What JavaScript reads of a promise when it is awaited, resolved with or combined. */
const PROMISE_PARTS = ['then', 'catch', 'finally', 'constructor'];

/** The same for stepped natives: the length of an array may be an object whose `valueOf` is flow code. */
export function* setPropertySteps(vm: Machine, object: Value, key: string, value: Value): Steps<void> {
  if (!(object instanceof ArrayObject && key === 'length' && value instanceof HeapObject)) return setProperty(vm, object, key, value);
  if (object.frozen) throw vm.error('TypeError', `Cannot assign to 'length' of a frozen object`);
  // JavaScript converts it twice: to an integer of 32 bits, and to the number that must be the same.
  const uint32 = (yield* vm.toNumberSteps(value)) >>> 0;
  return setLength(vm, object, uint32, yield* vm.toNumberSteps(value));
}

export function defineOwn(vm: Machine, object: HeapObject, key: string, value: Value): void {
  if (object instanceof ArrayObject) {
    const index = arrayIndex(key);
    if (index >= 0) return setElement(vm, object, index, value);
  }
  if (key.length > LONGEST_HASHED) vm.chargeKey();
  if (object.props !== null && key in object.props) object.props[key] = value;
  else addProperty(vm, object, key, value);
}

/** Adds a property that the object does not have: what V8 allocates for it is charged here, whoever adds it. */
export function addProperty(vm: Machine, object: HeapObject, key: string, value: Value): void {
  if (object.props === null) {
    vm.chargeBytes(PROPERTIES_BYTES);
    object.props = newProperties();
  }
  if (++object.added > MOST_PROPERTIES) recount(vm, object);
  vm.charge(NEW_KEY);
  chargeKeyBytes(vm, object.props, key);
  object.props[key] = value;
}

function recount(vm: Machine, object: HeapObject): void {
  vm.charge(MOST_PROPERTIES * LISTED_KEY);
  object.added = Object.keys(object.props as Properties).length + 1;
  if (object.added > MOST_PROPERTIES)
    throw vm.error('RangeError', `An object can have ${MOST_PROPERTIES} properties in Flow. Use a Map for more.`);
}

/** The bytes of a new key. */
export function chargeKeyBytes(vm: Machine, props: Properties, key: string): void {
  const isSparse = key.charCodeAt(0) <= DIGIT_NINE && keepSparse(props, key);
  vm.chargeBytes(isSparse ? PROPERTY_BYTES + SPARSE_KEY_BYTES : PROPERTY_BYTES);
}

/**
 * Before a key is added: V8 would keep integer keys in an array that reaches up to the largest, 12 KB for `{ 1000: 1 }`. Those that
 * do not follow the key below them make it a hash table instead. True if the key is one of them.
 */
export function keepSparse(props: Properties, key: string): boolean {
  const index = arrayIndex(key);
  if (index < 0 || index - 1 in props) return false;
  if (index < SMALL_INDEX || FAR_INDEX in props) return true;
  props[FAR_INDEX] = undefined;
  delete props[FAR_INDEX];
  return true;
}

export function setElement(vm: Machine, array: ArrayObject, index: number, value: Value): void {
  const { elements } = array;
  if (array.frozen) throw vm.error('TypeError', `Cannot assign to '${index}' of a frozen array`);
  const growth = index + 1 - elements.length;
  if (growth > 0) {
    vm.chargeBytes(growth * ELEMENT_BYTES + (elements.length === 0 ? FIRST_ELEMENT_BYTES : 0));
    // Holes are cheap to create for the flow but not for the host: they cost as much as elements.
    if (growth > 1) vm.charge(growth >> 4);
  }
  elements[index] = value;
}

function setLength(vm: Machine, array: ArrayObject, length: number, number: number): void {
  if (length !== number) throw vm.error('RangeError', 'Invalid array length');
  if (array.frozen && length !== array.elements.length) throw vm.error('TypeError', `Cannot assign to 'length' of a frozen object`);
  const growth = length - array.elements.length;
  if (growth > 0) {
    vm.chargeBytes(growth * ELEMENT_BYTES);
    vm.charge(growth >> 4);
  }
  array.elements.length = length;
}

// Deleting, testing, listing -------------------------------------------------------------------------------------------

export function deleteProperty(vm: Machine, object: Value, key: string): boolean {
  if (object === undefined || object === null) throw vm.error('TypeError', `Cannot convert ${object} to an object`);
  if (!(object instanceof HeapObject)) {
    if (typeof object === 'string' && (key === 'length' || isStringIndex(object, key)))
      throw vm.error('TypeError', `Cannot delete property '${key}' of a string`);
    return true;
  }
  if (!hasOwn(vm, object, key)) return true;
  if (isBuiltIn(object)) throw vm.error('TypeError', `Cannot change the built-in ${builtInName(object)} (deleting '${key}')`);
  if (object.frozen) throw vm.error('TypeError', `Cannot delete property '${key}' of a frozen object`);
  if (object instanceof ArrayObject) {
    if (key === 'length') throw vm.error('TypeError', `Cannot delete property 'length' of an array`);
    const index = arrayIndex(key);
    if (index >= 0) return delete object.elements[index];
  }
  if (object instanceof ErrorObject) {
    if (key === 'stack') throw vm.error('TypeError', `Cannot delete property 'stack' of an error in Flow`);
    if (key in object.hidden) return delete object.hidden[key];
  }
  if (isCallable(object) && (key === 'name' || key === 'length') && !(object.props && key in object.props))
    throw vm.error('TypeError', `Cannot delete property '${key}' of a function`);
  if (object.props !== null) delete object.props[key];
  return true;
}

function isStringIndex(text: string, key: string): boolean {
  const index = arrayIndex(key);
  return index >= 0 && index < text.length;
}

export function hasOwn(vm: Machine, object: Value, key: string): boolean {
  if (typeof object === 'string') return key === 'length' || isStringIndex(object, key);
  if (!(object instanceof HeapObject)) return false;
  if (object.props !== null && key in object.props) return true;
  if (object instanceof ArrayObject) {
    if (key === 'length') return true;
    const index = arrayIndex(key);
    return index >= 0 && index in object.elements;
  }
  if (object instanceof ErrorObject) return key === 'stack' || key in object.hidden;
  if (isBuiltIn(object) && key in membersOf(object)) return true;
  refuseMissing(vm, object, key);
  return isCallable(object) && (key === 'name' || key === 'length');
}

/** Shared by all runs; no flow can change it. */
export function isBuiltIn(object: HeapObject): object is NativeFunction | NamespaceObject {
  return object instanceof NativeFunction || object instanceof NamespaceObject;
}

export function builtInName(object: NativeFunction | NamespaceObject): string {
  return object instanceof NativeFunction ? object.definition.name : object.name;
}

function membersOf(object: NativeFunction | NamespaceObject): Readonly<Properties> {
  return object instanceof NativeFunction ? object.statics : object.members;
}

/** `key in object`: own, or one of the names in the built-in table. */
export function hasProperty(vm: Machine, object: HeapObject, key: string): boolean {
  if (hasOwn(vm, object, key)) return true;
  if (object instanceof ErrorObject && (key === 'name' || key === 'message')) return true;
  const { types } = registry();
  const table = types[typeNameOf(object)];
  return key in table.methods || key in table.members || table.refused.has(key) || key in types.object.methods;
}

export function ownKeys(vm: Machine, object: Value): string[] {
  if (object === undefined || object === null) throw vm.error('TypeError', `Cannot convert ${object} to an object`);
  if (typeof object === 'string') {
    chargeIndices(vm, object.length);
    return Object.keys(object);
  }
  if (!(object instanceof HeapObject)) return [];
  const named = namesOf(vm, object);
  if (object instanceof ArrayObject) {
    chargeIndices(vm, object.elements.length);
    return named.length === 0 ? Object.keys(object.elements) : Object.keys(object.elements).concat(named);
  }
  return named;
}

/** The same in slices, for an array or a string that is long. */
export function* ownKeysSteps(vm: Machine, object: Value): Steps<string[]> {
  if (!isLong(object)) return ownKeys(vm, object);
  const list = object instanceof ArrayObject ? object.elements : (object as string);
  const { length } = list;
  const keys: string[] = [];
  vm.hold(keys);
  for (let at = 0; at < length; at++) {
    if (at % LONG_LIST === 0) {
      if (vm.isDue) yield PAUSE;
      chargeIndices(vm, Math.min(LONG_LIST, length - at));
    }
    if (typeof list === 'string' || at in list) keys.push(String(at));
  }
  return object instanceof HeapObject ? keys.concat(namesOf(vm, object)) : keys;
}

export function isLong(value: Value): value is string | ArrayObject {
  if (typeof value === 'string') return value.length > LONG_LIST;
  return value instanceof ArrayObject && value.elements.length > LONG_LIST;
}

/** Whether walking an iterable takes longer than `LONG_LIST` steps. */
export function isLongWalk(value: Value): boolean {
  if (value instanceof IteratorObject) return isLongWalk(value.target);
  return value instanceof CollectionObject ? value.keys.length > LONG_LIST : isLong(value);
}

function chargeIndices(vm: Machine, count: number): void {
  vm.charge(count * LISTED_KEY);
  vm.chargeBytes(count * KEY_BYTES);
}

// How many there are is known only when they have been listed; `MOST_PROPERTIES` bounds that.
function namesOf(vm: Machine, { props }: HeapObject): string[] {
  if (props === null) return [];
  const names = Object.keys(props);
  if (names.length === 0) return names;
  vm.charge(names.length * LISTED_KEY);
  // Integers come first, and only they are made into strings here.
  if (arrayIndex(names[0]) >= 0) vm.chargeBytes(names.length * KEY_BYTES);
  return names;
}
