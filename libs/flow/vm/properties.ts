// The one way to read, write, delete and list properties. Nothing else touches what a key may reach.

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
  type Value,
} from './values.js';

export const PROPERTY_BYTES = 40;
export const ELEMENT_BYTES = 8;
/** The name of an element, which exists only while somebody lists it. */
const KEY_BYTES = 32;
/** The longest text that V8 hashes by its content; longer ones all collide with those of their length (see `chargeKey`). */
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

/** The index that a key means, or -1: only the canonical spelling of a whole number below 2³²-1 is one. */
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
  } else if (object instanceof NamespaceObject) {
    if (key in object.members) return object.members[key];
    if (object.unsupported.includes(key)) throw unsupported(vm, `${object.name}.${key}`);
  } else if (object instanceof ErrorObject) {
    if (key in object.hidden) return object.hidden[key];
  } else if (object instanceof NativeFunction) {
    if (key in object.statics) return object.statics[key];
    if (object.definition.unsupportedStatics?.includes(key) || key === 'prototype')
      throw unsupported(vm, `${object.definition.name}.${key}`);
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
    if (key === 'prototype' && !object.code.isAsync) throw unsupported(vm, 'prototype');
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
  if (table.refused.has(key)) throw unsupported(vm, key);
  return types.object.methods[key];
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
  if (object.frozen) throw vm.error('TypeError', frozenMessage(object, key));
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
  } else if (object instanceof ErrorObject) {
    if (key === 'stack') {
      object.stack = typeof value === 'string' ? value : '';
      return;
    }
    if (key in object.hidden) {
      object.hidden[key] = value;
      return;
    }
  } else if (object instanceof PromiseObject && (key === 'then' || key === 'catch' || key === 'finally')) {
    throw vm.error('TypeError', `Cannot replace '${key}' of a promise`);
  } else if (object instanceof IteratorObject && key === 'next') {
    throw vm.error('TypeError', `Cannot replace 'next' of a built-in iterator`);
  } else if (isCallable(object) && (key === 'name' || key === 'length')) {
    throw vm.error('TypeError', `Cannot assign to read only property '${key}' of a function`);
  }
  if (key === '__proto__') throw unsupported(vm, '__proto__');
  if (registry().types[typeNameOf(object)].members[key]) throw vm.error('TypeError', `Cannot set property ${key} which has only a getter`);
  defineOwn(vm, object, key, value);
}

/** The same for stepped natives: the length of an array may be an object whose `valueOf` is flow code. */
export function* setPropertySteps(vm: Machine, object: Value, key: string, value: Value): Steps<void> {
  if (!(object instanceof ArrayObject && key === 'length' && value instanceof HeapObject)) return setProperty(vm, object, key, value);
  if (object.frozen) throw vm.error('TypeError', `Cannot assign to 'length' of a frozen object`);
  // JavaScript converts it twice: to an integer of 32 bits, and to the number that must be the same.
  const uint32 = (yield* vm.toNumberSteps(value)) >>> 0;
  return setLength(vm, object, uint32, yield* vm.toNumberSteps(value));
}

function frozenMessage(object: HeapObject, key: string): string {
  if (object instanceof NativeFunction) return `Cannot change the built-in ${object.definition.name} (setting '${key}')`;
  if (object instanceof NamespaceObject) return `Cannot change the built-in ${object.name} (setting '${key}')`;
  return `Cannot assign to '${key}' of a frozen object`;
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
    // Holes are cheap to make for the flow and not for us: they are paid for like elements.
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

// Deleting, asking, listing -------------------------------------------------------------------------------------------

export function deleteProperty(vm: Machine, object: Value, key: string): boolean {
  if (object === undefined || object === null) throw vm.error('TypeError', `Cannot convert ${object} to an object`);
  if (!(object instanceof HeapObject)) {
    if (typeof object === 'string' && (key === 'length' || isStringIndex(object, key)))
      throw vm.error('TypeError', `Cannot delete property '${key}' of a string`);
    return true;
  }
  if (!hasOwn(vm, object, key)) return true;
  if (object.frozen) throw vm.error('TypeError', `Cannot delete property '${key}' of a frozen object`);
  if (object instanceof ArrayObject) {
    if (key === 'length') throw vm.error('TypeError', `Cannot delete property 'length' of an array`);
    const index = arrayIndex(key);
    if (index >= 0) return delete object.elements[index];
  }
  if (object instanceof ErrorObject && key in object.hidden) return delete object.hidden[key];
  if (isCallable(object) && (key === 'name' || key === 'length') && !(object.props && key in object.props))
    throw vm.error('TypeError', `Cannot delete property '${key}' of a function`);
  if (object.props !== null) delete object.props[key];
  return true;
}

function isStringIndex(text: string, key: string): boolean {
  const index = arrayIndex(key);
  return index >= 0 && index < text.length;
}

export function hasOwn(_vm: Machine, object: Value, key: string): boolean {
  if (typeof object === 'string') return key === 'length' || isStringIndex(object, key);
  if (!(object instanceof HeapObject)) return false;
  if (object.props !== null && key in object.props) return true;
  if (object instanceof ArrayObject) {
    if (key === 'length') return true;
    const index = arrayIndex(key);
    return index >= 0 && index in object.elements;
  }
  if (object instanceof ErrorObject) return key === 'stack' || key in object.hidden;
  if (object instanceof NamespaceObject) return key in object.members;
  if (object instanceof NativeFunction && key in object.statics) return true;
  return isCallable(object) && (key === 'name' || key === 'length');
}

/** `key in object`: own, or one of the names that the built-in table answers. */
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
