// `split` by a string.
import { LONG, type Machine, native, PAUSE, type Steps } from '../vm/native.js';
import { LONG_LIST } from '../vm/properties.js';
import type { Value } from '../vm/values.js';
import { byReceiver } from './cost.js';
import { cut } from './cut.js';
import { thisString, wrongReceiver } from './receiver.js';
import { Finder } from './search.js';

/** A short string, and its place in the array. */
const PART_BYTES = 32;

export const SPLIT = native({
  name: 'String.prototype.split',
  length: 2,
  cost: byReceiver,
  call(vm, receiver, args) {
    const text = thisString(vm, receiver, 'split');
    if (text.length > LONG_LIST) return LONG;
    const limit = args[1] === undefined ? 2 ** 32 - 1 : vm.toNumber(args[1]) >>> 0;
    if (args[0] === undefined) return vm.newArray(limit === 0 ? [] : [text]);
    return splitShort(vm, text, vm.toString(args[0]), limit);
  },
  *steps(vm, receiver, args) {
    if (receiver === undefined || receiver === null) throw wrongReceiver(vm, 'String.prototype.split', 'a string');
    const text = yield* vm.toStringSteps(receiver);
    const limit = args[1] === undefined ? 2 ** 32 - 1 : (yield* vm.toNumberSteps(args[1])) >>> 0;
    if (args[0] === undefined) return vm.newArray(limit === 0 ? [] : [text]);
    return yield* split(vm, text, yield* vm.toStringSteps(args[0]), limit);
  },
});

function splitShort(vm: Machine, text: string, separator: string, limit: number): Value {
  if (separator === '') {
    vm.charge(text.length);
    vm.chargeBytes(text.length * PART_BYTES);
    return vm.newArray(text.split('', limit));
  }
  const parts: Value[] = [];
  const finder = new Finder(vm, text, separator);
  vm.chargeBytes(text.length);
  for (let from = 0; parts.length < limit; ) {
    const at = finder.next(from);
    vm.charge(4);
    vm.chargeBytes(PART_BYTES);
    parts.push(at < 0 ? cut(text, from) : cut(text, from, at));
    if (at < 0) break;
    from = at + separator.length;
  }
  return vm.newArray(parts);
}

function* split(vm: Machine, text: string, separator: string, limit: number): Steps<Value> {
  const parts: Value[] = [];
  vm.hold(parts);
  vm.chargeRead(text.length);
  if (separator === '') {
    for (let at = 0; at < text.length && parts.length < limit; at++) {
      if (vm.isDue) yield PAUSE;
      vm.charge(1);
      vm.chargeBytes(text.charCodeAt(at) > 0xff ? PART_BYTES : 8);
      parts.push(text[at]);
    }
    return vm.newArray(parts);
  }
  const finder = new Finder(vm, text, separator);
  for (let from = 0; parts.length < limit; ) {
    if (vm.isDue) yield PAUSE;
    const at = finder.next(from);
    const end = at < 0 ? text.length : at;
    vm.charge(4);
    vm.chargeBytes(PART_BYTES + end - from);
    parts.push(cut(text, from, end));
    if (at < 0) break;
    from = at + separator.length;
  }
  return vm.newArray(parts);
}
