// ToPrimitive and what is built on it: directly where no flow code may run, as steps where it may.

import { NeedsCoercion } from './exceptions.js';
import { call, type Machine, type Primitive, type PrimitiveHint, type Steps } from './native.js';
import { DateObject, FunctionObject, HeapObject, isCallable, NativeFunction, type Value } from './values.js';

/** What the running plain native has converted so far: when it is called again, it must get the same results (see `NeedsCoercion`). */
export class CoercionMemo {
  /** The primitives of the objects it converted, in order: even of those that needed no flow code, because flow code may change them afterwards. */
  primitives: Primitive[] = [];
  next = 0;
  /** What it passed to `atStart`. */
  start: number | undefined;

  /** For the next native. */
  clear(): void {
    if (this.primitives.length > 0) this.primitives = [];
    this.next = 0;
    this.start = undefined;
  }
}

export function toPrimitive(vm: Machine & { memo: CoercionMemo }, value: Value, hint: PrimitiveHint): Primitive {
  if (!(value instanceof HeapObject)) return value;
  const { memo } = vm;
  if (memo.next < memo.primitives.length) return memo.primitives[memo.next++];
  const primitive = convert(vm, value, hint);
  memo.primitives.push(primitive);
  memo.next++;
  return primitive;
}

/** ToPrimitive without flow code. */
function convert(vm: Machine & { memo: CoercionMemo }, value: HeapObject, hint: PrimitiveHint): Primitive {
  const { memo } = vm;
  for (const name of methodOrder(value, hint)) {
    const method = vm.getProperty(value, name);
    if (!isCallable(method)) continue;
    if (!(method instanceof NativeFunction) || !method.definition.call) throw new NeedsCoercion(value, hint);
    // What the method converts (the elements of an array, say) is not an operand of the native.
    vm.memo = new CoercionMemo();
    try {
      const result = method.definition.call(vm, value, []) as Value;
      if (!(result instanceof HeapObject)) return result;
    } catch (error) {
      throw error instanceof NeedsCoercion ? new NeedsCoercion(value, hint) : error;
    } finally {
      vm.memo = memo;
    }
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
