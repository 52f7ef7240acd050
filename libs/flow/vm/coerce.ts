// ToPrimitive and what is built on it: at once where no flow code must run, as steps where it may.

import { NeedsCoercion } from './exceptions.js';
import { call, type Machine, type Primitive, type PrimitiveHint, type Steps } from './native.js';
import { DateObject, FunctionObject, HeapObject, isCallable, NativeFunction, type Value } from './values.js';

/** The answers to the coercions of the native that runs, in the order it asks; see `NeedsCoercion`. */
export interface CoercionMemo {
  answers: Primitive[];
  next: number;
}

export function toPrimitive(vm: Machine & { memo: CoercionMemo }, value: Value, hint: PrimitiveHint): Primitive {
  if (!(value instanceof HeapObject)) return value;
  const order = methodOrder(value, hint);
  for (const name of order) {
    const method = vm.getProperty(value, name);
    if (!isCallable(method)) continue;
    if (!(method instanceof NativeFunction) || !method.definition.call) {
      const { memo } = vm;
      if (memo.next < memo.answers.length) return memo.answers[memo.next++];
      throw new NeedsCoercion(value, hint);
    }
    const result = method.definition.call(vm, value, []);
    if (!(result instanceof HeapObject)) return result;
  }
  throw vm.error('TypeError', 'Cannot convert object to primitive value');
}

export function* toPrimitiveSteps(vm: Machine, value: Value, hint: PrimitiveHint): Steps<Primitive> {
  if (!(value instanceof HeapObject)) return value;
  for (const name of methodOrder(value, hint)) {
    const method = vm.getProperty(value, name);
    if (!isCallable(method)) continue;
    const result: Value =
      method instanceof FunctionObject || !(method instanceof NativeFunction)
        ? yield call(method)
        : yield { fn: method, args: [], receiver: value };
    if (!(result instanceof HeapObject)) return result;
  }
  throw vm.error('TypeError', 'Cannot convert object to primitive value');
}

function methodOrder(value: HeapObject, hint: PrimitiveHint): readonly string[] {
  const asString = hint === 'string' || (hint === 'default' && value instanceof DateObject);
  return asString ? ['toString', 'valueOf'] : ['valueOf', 'toString'];
}

/** ToIntegerOrInfinity of a number. */
export function integerOf(number: number): number {
  return Number.isNaN(number) ? 0 : Math.trunc(number) + 0;
}
