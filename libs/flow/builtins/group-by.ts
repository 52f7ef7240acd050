// The common work of `Object.groupBy` and `Map.groupBy`: calls a function for the key of each value.

import { indexKey } from '../vm/index-key.js';
import { call, DONE, type Machine, PAUSE, type Steps } from '../vm/native.js';
import { LONGEST_HASHED } from '../vm/properties.js';
import type { Value } from '../vm/values.js';

/** An entry of a host Map and the array in it. */
const GROUP_BYTES = 320;

export function* groupBy(vm: Machine, items: Value, fn: Value, byPropertyKey: boolean): Steps<Iterable<readonly [Value, Value[]]>> {
  if (items === undefined || items === null) throw vm.error('TypeError', `groupBy() cannot read ${items}`);
  vm.requireCallable(fn, 'The second argument of groupBy()');
  const groups = new Map<unknown, readonly [Value, Value[]]>();
  const keys: Value[] = [];
  vm.hold(keys);
  const iterator = vm.iteratorOf(items);
  let index = 0;
  for (let each = vm.next(iterator); each !== DONE; each = vm.next(iterator)) {
    const result = yield call(fn, each, index++);
    const key = byPropertyKey ? yield* vm.toStringSteps(result) : result;
    if (vm.isDue) yield PAUSE;
    vm.charge(2);
    vm.chargeElements(1);
    const indexed = indexKey(key);
    const found = groups.get(indexed);
    if (found) found[1].push(each);
    else {
      if (typeof key === 'string' && key.length > LONGEST_HASHED) vm.chargeKey();
      vm.charge(8);
      vm.chargeBytes(GROUP_BYTES);
      const group = [each];
      vm.hold(group);
      keys.push(key);
      groups.set(indexed, [key, group]);
    }
  }
  return groups.values();
}
