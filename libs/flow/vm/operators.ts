// The slow paths of the operators: natives that the dispatch loop falls back to when an operand is not a plain number or string.

import { keysIterator } from './iterate.js';
import { ELEMENT_BYTES } from './memory.js';
import { DONE, type Machine, type NativeDefinition, PAUSE, type Primitive, shortName } from './native.js';
import { ownKeysSteps } from './properties.js';
import { ArrayObject, HeapObject, type IteratorObject, NativeFunction, type Value } from './values.js';

type Numeric = (a: number, b: number) => number;

function numeric(name: string, apply: Numeric): NativeDefinition {
  return {
    name: `operator ${name}`,
    length: 2,
    cost: 2,
    call(vm, _receiver, [left, right]) {
      const a = vm.toNumber(left);
      return apply(a, vm.toNumber(right));
    },
  };
}

function relation(name: string, apply: (a: never, b: never) => boolean): NativeDefinition {
  return {
    name: `operator ${name}`,
    length: 2,
    cost: 2,
    call(vm, _receiver, [left, right]) {
      const a = vm.toPrimitive(left, 'number');
      const b = vm.toPrimitive(right, 'number');
      chargeComparison(vm, a, b);
      return apply(a as never, b as never);
    },
  };
}

/** Strings are compared character by character, and converted to a number from end to end: long ones cost fuel. */
export function chargeComparison(vm: Machine, a: unknown, b: unknown): void {
  if (typeof a === 'string' && typeof b === 'string') {
    vm.chargeRead(a.length);
    vm.chargeRead(b.length);
    vm.charge(Math.min(a.length, b.length) >> 7);
  } else if (typeof a === 'string') vm.charge(a.length >> 3);
  else if (typeof b === 'string') vm.charge(b.length >> 3);
}

/** The same for `===`, which compares only strings of equal length. */
export function chargeSame(vm: Machine, a: string, b: unknown): void {
  if (typeof b !== 'string' || a.length !== b.length) return;
  vm.chargeRead(a.length);
  vm.charge(a.length >> 7);
}

function unary(name: string, apply: (vm: Machine, value: Value) => Value): NativeDefinition {
  return { name: `operator ${name}`, length: 1, cost: 2, call: (vm, _receiver, [value]) => apply(vm, value) };
}

export const ADD: NativeDefinition = {
  name: 'operator +',
  length: 2,
  cost: 2,
  call(vm, _receiver, [left, right]) {
    const a = vm.toPrimitive(left, 'default');
    const b = vm.toPrimitive(right, 'default');
    if (typeof a !== 'string' && typeof b !== 'string') return Number(a) + Number(b);
    const [x, y] = [String(a), String(b)];
    vm.chargeJoined(x.length, y.length);
    return x + y;
  },
};
export const SUB = numeric('-', (a, b) => a - b);
export const MUL = numeric('*', (a, b) => a * b);
export const DIV = numeric('/', (a, b) => a / b);
export const MOD = numeric('%', (a, b) => a % b);
export const POW = numeric('**', (a, b) => a ** b);
export const BIT_AND = numeric('&', (a, b) => a & b);
export const BIT_OR = numeric('|', (a, b) => a | b);
export const BIT_XOR = numeric('^', (a, b) => a ^ b);
export const SHL = numeric('<<', (a, b) => a << b);
export const SHR = numeric('>>', (a, b) => a >> b);
export const USHR = numeric('>>>', (a, b) => a >>> b);
export const LT = relation('<', (a, b) => a < b);
export const LE = relation('<=', (a, b) => a <= b);
export const GT = relation('>', (a, b) => a > b);
export const GE = relation('>=', (a, b) => a >= b);
export const NEG = unary('-', (vm, value) => -vm.toNumber(value));
export const PLUS = unary('+', (vm, value) => vm.toNumber(value));
export const BIT_NOT = unary('~', (vm, value) => ~vm.toNumber(value));
export const TO_STRING = unary('string', (vm, value) => vm.toString(value));
export const TO_KEY = unary('key', (vm, value) => vm.toPropertyKey(value));

/** `a == b`: objects are equal only to themselves, and are made primitive only against a primitive. */
export const EQ: NativeDefinition = {
  name: 'operator ==',
  length: 2,
  cost: 2,
  call: (vm, _receiver, [left, right]) => looselyEqual(vm, left, right),
};
export const NE: NativeDefinition = {
  name: 'operator !=',
  length: 2,
  cost: 2,
  call: (vm, _receiver, [left, right]) => !looselyEqual(vm, left, right),
};

function looselyEqual(vm: Machine, left: Value, right: Value): boolean {
  const leftIsObject = left instanceof HeapObject;
  const rightIsObject = right instanceof HeapObject;
  if (leftIsObject === rightIsObject) {
    chargeComparison(vm, left, right);
    // biome-ignore lint/suspicious/noDoubleEquals: this is the operator itself.
    return leftIsObject ? left === right : (left as Primitive) == (right as Primitive);
  }
  const other = leftIsObject ? right : left;
  if (other === undefined || other === null) return false;
  const primitive = vm.toPrimitive(leftIsObject ? left : right, 'default');
  chargeComparison(vm, primitive, other);
  // biome-ignore lint/suspicious/noDoubleEquals: this is the operator itself.
  return primitive == other;
}

export const IN: NativeDefinition = {
  name: 'operator in',
  length: 2,
  cost: 2,
  call(vm, _receiver, [key, object]) {
    if (!(object instanceof HeapObject)) throw vm.error('TypeError', `Cannot use 'in' operator to search in ${String(object)}`);
    return vm.hasProperty(object, vm.toPropertyKey(key));
  },
};
export const INSTANCEOF: NativeDefinition = {
  name: 'operator instanceof',
  length: 2,
  cost: 2,
  call(vm, _receiver, [value, type]) {
    if (!(type instanceof NativeFunction)) throw vm.error('TypeError', "Right-hand side of 'instanceof' is not a built-in type");
    const { hasInstance } = type.definition;
    if (!hasInstance) throw vm.error('TypeError', `Right-hand side of 'instanceof' (${shortName(type.definition)}) is not a built-in type`);
    return hasInstance(value);
  },
};
export const GET_INDEX: NativeDefinition = {
  name: 'operator []',
  length: 2,
  cost: 2,
  call(vm, _receiver, [object, key]) {
    if (object === undefined || object === null)
      throw vm.error('TypeError', `Cannot read properties of ${object} (reading '${describeKey(key)}')`);
    return vm.getProperty(object, vm.toPropertyKey(key));
  },
};
export const SET_INDEX: NativeDefinition = {
  name: 'operator []=',
  length: 3,
  cost: 2,
  call(vm, _receiver, [object, key, value]) {
    if (object === undefined || object === null)
      throw vm.error('TypeError', `Cannot set properties of ${object} (setting '${describeKey(key)}')`);
    vm.setProperty(object, vm.toPropertyKey(key), value);
    return value;
  },
  *steps(vm, _receiver, [object, key, value]) {
    yield* vm.setPropertySteps(object, yield* vm.toPropertyKeySteps(key), value);
    return value;
  },
};
export const DELETE_INDEX: NativeDefinition = {
  name: 'operator delete',
  length: 2,
  cost: 2,
  call(vm, _receiver, [object, key]) {
    if (object === undefined || object === null) throw vm.error('TypeError', `Cannot convert ${object} to an object`);
    return vm.deleteProperty(object, vm.toPropertyKey(key));
  },
};

// Instructions over more than a slice can take; the dispatch loop does them itself when they are short --------------------

/** `[...iterable]` and the rest of a destructured array: appends what the iterator still has. */
export const APPEND_ALL: NativeDefinition = {
  name: 'operator ...',
  length: 2,
  cost: 2,
  *steps(vm, _receiver, [target, iterator]) {
    const { elements } = target as ArrayObject;
    for (;;) {
      const value = vm.next(iterator as IteratorObject);
      if (value === DONE) return target;
      vm.chargeBytes(ELEMENT_BYTES);
      elements.push(value);
      if (vm.isDue) yield PAUSE;
    }
  },
};

/** `{ ...source }`: the properties with these names, or all of them, except some. */
export const COPY_PROPERTIES: NativeDefinition = {
  name: 'operator ...',
  length: 4,
  cost: 2,
  *steps(vm, _receiver, [target, source, names, skipped]) {
    const keys = names instanceof ArrayObject ? names.elements : yield* ownKeysSteps(vm, source);
    const skip = new Set(skipped instanceof ArrayObject ? skipped.elements : []);
    for (const key of keys as readonly string[]) {
      vm.charge(2);
      if (!skip.has(key)) vm.defineProperty(target as HeapObject, key, vm.getProperty(source, key));
      if (vm.isDue) yield PAUSE;
    }
    return target;
  },
};

/** `for…in` over a long array or string. */
export const FOR_IN: NativeDefinition = {
  name: 'operator for…in',
  length: 1,
  cost: 2,
  *steps(vm, _receiver, [value]) {
    return keysIterator(value, vm.newArray(yield* ownKeysSteps(vm, value)));
  },
};

function describeKey(key: Value): string {
  return key instanceof HeapObject ? 'an object' : String(key);
}
