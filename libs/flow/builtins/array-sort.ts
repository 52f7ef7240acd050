// `sort` and `toSorted`: stable, with the comparisons of V8 in V8's order for short arrays (runs and binary insertion), merged beyond that.
import { call, type Machine, native, type Steps } from '../vm/native.js';
import { HeapObject, type NativeFunction, type Value } from '../vm/values.js';
import { byReceiver } from './cost.js';
import { thisArray, writableArray } from './receiver.js';

// Up to here V8 sorts in one run; longer arrays are cut into runs of half that.
const ONE_RUN = 63;
const RUN = 32;
const KEYED_BYTES = 48;

export const ARRAY_SORTS: readonly NativeFunction[] = [
  native({
    name: 'Array.prototype.sort',
    length: 1,
    cost: byReceiver,
    *steps(vm, receiver, [compare]) {
      requireComparator(vm, compare);
      const array = thisArray(vm, receiver, 'sort');
      const { elements } = array;
      const { length } = elements;
      // Like V8, which accepts even a frozen array when it has one element.
      if (length < 2) return array;
      vm.chargeElements(length);
      const present: Value[] = [];
      for (let i = 0; i < length; i++) if (i in elements) present.push(elements[i]);
      const ordered = yield* sorted(vm, present, compare);
      if (ordered.length > 0) writableArray(vm, array, 'sort');
      for (let i = 0; i < ordered.length; i++) elements[i] = ordered[i];
      for (let i = ordered.length; i < Math.min(length, elements.length); i++) delete elements[i];
      return array;
    },
  }),
  native({
    name: 'Array.prototype.toSorted',
    length: 1,
    cost: byReceiver,
    *steps(vm, receiver, [compare]) {
      requireComparator(vm, compare);
      const { elements } = thisArray(vm, receiver, 'toSorted');
      vm.chargeElements(2 * elements.length);
      return vm.newArray(yield* sorted(vm, Array.from(elements), compare));
    },
  }),
];

function requireComparator(vm: Machine, compare: Value): void {
  if (compare !== undefined) vm.requireCallable(compare, 'The comparison function of sort()');
}

/** The values in order; `undefined` always goes last and is never compared. */
function* sorted(vm: Machine, values: Value[], compare: Value): Steps<Value[]> {
  const defined = values.filter((each) => each !== undefined);
  vm.hold(defined);
  vm.charge(values.length + defined.length * Math.ceil(Math.log2(defined.length + 1)));
  const ordered = compare === undefined && !defined.some(isObject) ? byString(vm, defined) : yield* byComparator(vm, defined, compare);
  const missing = values.length - ordered.length;
  for (let i = 0; i < missing; i++) ordered.push(undefined);
  return ordered;
}

function isObject(value: Value): boolean {
  return value instanceof HeapObject;
}

/** Primitives are converted once each: how often cannot be observed. */
function byString(vm: Machine, values: Value[]): Value[] {
  const keyed: { text: string; value: Value }[] = [];
  for (const value of values) {
    const text = vm.toString(value);
    // A comparison reads as far as the strings agree; long ones cost fuel.
    vm.charge(text.length >> 4);
    vm.chargeBytes(KEYED_BYTES);
    keyed.push({ text, value });
  }
  keyed.sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : 0));
  return keyed.map(({ value }) => value);
}

function* byComparator(vm: Machine, values: Value[], compare: Value): Steps<Value[]> {
  const { length } = values;
  const run = length <= ONE_RUN ? length : RUN;
  for (let low = 0; low < length; low += run) yield* sortRun(vm, values, low, Math.min(low + run, length), compare);
  let source = values;
  let target: Value[] = new Array(length);
  for (let width = run; width < length; width *= 2) {
    for (let low = 0; low < length; low += 2 * width) {
      yield* merge(vm, source, target, low, Math.min(low + width, length), Math.min(low + 2 * width, length), compare);
    }
    [source, target] = [target, source];
  }
  return source;
}

/** Always called with (later, earlier): only a result below zero moves the later one forward. Without a function strings are compared. */
function* isBefore(vm: Machine, later: Value, earlier: Value, compare: Value): Steps<boolean> {
  if (compare === undefined) {
    const text = yield* vm.toStringSteps(later);
    const other = yield* vm.toStringSteps(earlier);
    vm.charge(1 + (Math.min(text.length, other.length) >> 7));
    return text < other;
  }
  const result = yield call(compare, later, earlier);
  return (typeof result === 'number' ? result : yield* vm.toNumberSteps(result)) < 0;
}

function* sortRun(vm: Machine, work: Value[], low: number, high: number, compare: Value): Steps<void> {
  if (high - low < 2) return;
  const descending = yield* isBefore(vm, work[low + 1], work[low], compare);
  let sortedUntil = low + 2;
  while (sortedUntil < high && (yield* isBefore(vm, work[sortedUntil], work[sortedUntil - 1], compare)) === descending) sortedUntil++;
  if (descending) for (let i = low, j = sortedUntil - 1; i < j; i++, j--) [work[i], work[j]] = [work[j], work[i]];
  for (let next = sortedUntil; next < high; next++) {
    const pivot = work[next];
    let left = low;
    let right = next;
    while (left < right) {
      const middle = left + ((right - left) >> 1);
      if (yield* isBefore(vm, pivot, work[middle], compare)) right = middle;
      else left = middle + 1;
    }
    work.copyWithin(left + 1, left, next);
    work[left] = pivot;
  }
}

function* merge(vm: Machine, source: Value[], target: Value[], low: number, middle: number, high: number, compare: Value): Steps<void> {
  let i = low;
  let j = middle;
  for (let k = low; k < high; k++) {
    const takeLater = j < high && (i >= middle || (yield* isBefore(vm, source[j], source[i], compare)));
    target[k] = takeLater ? source[j++] : source[i++];
  }
}
