// The one way to read, write, delete and list properties. Every access by key goes through here.

import type { Machine, Steps, TypeName } from './native.js';
import { shortName } from './native.js';
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

export const PROPERTY_BYTES = 40;
export const ELEMENT_BYTES = 8;
/** The name of an element, which exists only while keys are listed. */
const KEY_BYTES = 32;
/** The longest string that V8 hashes by its content; longer ones all collide with those of their length (see `chargeKey`). */
export const LONGEST_HASHED = 16_383;
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
    if (!(key in props)) {
      if (key === '__proto__') throw unsupported(vm, '__proto__');
      vm.chargeBytes(PROPERTY_BYTES);
    }
    props[key] = value;
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
  object.props ??= newProperties();
  if (key.length > LONGEST_HASHED) vm.chargeKey();
  if (!(key in object.props)) vm.chargeBytes(PROPERTY_BYTES);
  object.props[key] = value;
}

export function setElement(vm: Machine, array: ArrayObject, index: number, value: Value): void {
  const { elements } = array;
  if (array.frozen) throw vm.error('TypeError', `Cannot assign to '${index}' of a frozen array`);
  const growth = index + 1 - elements.length;
  if (growth > 0) {
    vm.chargeBytes(growth * ELEMENT_BYTES);
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
    vm.charge(object.length);
    vm.chargeBytes(object.length * KEY_BYTES);
    return Object.keys(object);
  }
  if (!(object instanceof HeapObject)) return [];
  const named = object.props === null ? [] : Object.keys(object.props);
  if (object instanceof ArrayObject) {
    vm.charge(object.elements.length);
    vm.chargeBytes(object.elements.length * KEY_BYTES);
    return [...Object.keys(object.elements), ...named];
  }
  vm.charge(named.length);
  return named;
}
