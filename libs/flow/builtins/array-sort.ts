// `sort` and `toSorted`: stable, with the comparisons of V8 in V8's order for short arrays (runs and binary insertion), merged beyond that.
import { call, type Machine, native, PAUSE, type Steps } from '../vm/native.js';
import { HeapObject, type NativeFunction, type Value } from '../vm/values.js';
import { byReceiver } from './cost.js';
import { thisArray, writableArray } from './receiver.js';

// Up to here V8 sorts in one run; longer arrays are cut into runs of half that.
const ONE_RUN = 63;
const RUN = 32;
const KEYED_BYTES = 56;
/** Fuel of a comparison, besides what the function takes. */
const COMPARED_WORK = 4;
/** So many strings the host sorts in a fraction of a slice. */
const SORTED_BY_HOST = 1_024;
/** Fuel of sorting so many, for each. */
const KEYED_WORK = 20;

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
  vm.charge(values.length);
  const ordered =
    compare === undefined && !defined.some(isObject) ? yield* byString(vm, defined) : yield* byComparator(vm, defined, compare);
  const missing = values.length - ordered.length;
  for (let i = 0; i < missing; i++) ordered.push(undefined);
  return ordered;
}

function isObject(value: Value): boolean {
  return value instanceof HeapObject;
}

interface Keyed {
  readonly text: string;
  readonly value: Value;
}

/** Primitives are converted once each: how often cannot be observed. Sorted bottom up, in slices. */
function* byString(vm: Machine, values: Value[]): Steps<Value[]> {
  const { length } = values;
  let source: Keyed[] = [];
  for (const value of values) {
    if (vm.isDue) yield PAUSE;
    const text = vm.toString(value);
    // A comparison reads as far as the strings agree; long ones cost fuel.
    vm.charge(2 + (text.length >> 4));
    vm.chargeBytes(KEYED_BYTES + (typeof value === 'string' ? 0 : text.length));
    source.push({ text, value });
  }
  if (length <= SORTED_BY_HOST) {
    vm.charge(KEYED_WORK * length);
    return source.sort(compareText).map(({ value }) => value);
  }
  for (let low = 0; low < length; low += SORTED_BY_HOST) {
    if (vm.isDue) yield PAUSE;
    const part = source.slice(low, low + SORTED_BY_HOST).sort(compareText);
    vm.charge(KEYED_WORK * part.length);
    for (let at = 0; at < part.length; at++) source[low + at] = part[at];
  }
  let target: Keyed[] = new Array(length);
  for (let width = SORTED_BY_HOST; width < length; width *= 2) {
    for (let low = 0; low < length; low += 2 * width) {
      const middle = Math.min(low + width, length);
      const high = Math.min(low + 2 * width, length);
      for (let k = low, i = low, j = middle; k < high; k++) {
        if (vm.isDue) yield PAUSE;
        vm.charge(2);
        target[k] = j < high && (i >= middle || source[j].text < source[i].text) ? source[j++] : source[i++];
      }
    }
    [source, target] = [target, source];
  }
  return source.map(({ value }) => value);
}

function compareText(a: Keyed, b: Keyed): number {
  return a.text < b.text ? -1 : a.text > b.text ? 1 : 0;
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
  vm.charge(COMPARED_WORK);
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
    if (vm.isDue) yield PAUSE;
  }
}
