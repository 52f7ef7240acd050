// `Map`, `Set` and the iterators of arrays, strings and collections.
import { ENTRY_BYTES } from '../vm/memory.js';
import { type BuiltinFamily, call, DONE, LONG, type Machine, methods, type NativeCost, native, PAUSE } from '../vm/native.js';
import { isLongWalk, LONGEST_HASHED } from '../vm/properties.js';
import { CollectionObject, HeapObject, MapObject, type NativeFunction, SetObject, type Value } from '../vm/values.js';
import { byFirst } from './cost.js';
import { groupBy } from './group-by.js';
import { thisIterator, thisMap, thisSet } from './receiver.js';

/** Fuel of an entry that V8 has to hash and store. */
const NEW_ENTRY = 6;

function put(vm: Machine, collection: CollectionObject, key: Value, value: Value): void {
  if (typeof key === 'string' && key.length > LONGEST_HASHED) vm.charge(keyCost(collection, [key]));
  if (!collection.has(key)) {
    vm.charge(NEW_ENTRY);
    vm.chargeBytes(ENTRY_BYTES);
  }
  collection.put(key, value);
}

function putEntry(vm: Machine, map: MapObject, entry: Value): void {
  if (!(entry instanceof HeapObject)) throw vm.error('TypeError', 'new Map() needs pairs [key, value]');
  put(vm, map, vm.getProperty(entry, '0'), vm.getProperty(entry, '1'));
}

const MAP = native(
  {
    name: 'Map',
    length: 0,
    cost: 1,
    construct(vm, _receiver, [entries]) {
      if (isLongWalk(entries)) return LONG;
      const map = vm.newMap();
      if (entries === undefined || entries === null) return map;
      const iterator = vm.iteratorOf(entries);
      for (let entry = vm.next(iterator); entry !== DONE; entry = vm.next(iterator)) putEntry(vm, map, entry);
      return map;
    },
    *constructSteps(vm, _receiver, [entries]) {
      const map = vm.newMap();
      vm.hold([map]);
      const iterator = vm.iteratorOf(entries);
      for (let entry = vm.next(iterator); entry !== DONE; entry = vm.next(iterator)) {
        putEntry(vm, map, entry);
        if (vm.isDue) yield PAUSE;
      }
      return map;
    },
    hasInstance: (value) => value instanceof MapObject,
    unsupportedStatics: ['prototype'],
  },
  {
    groupBy: native({
      name: 'Map.groupBy',
      length: 2,
      cost: byFirst,
      *steps(vm, _receiver, args) {
        const groups = yield* groupBy(vm, args[0], args[1], false);
        const map = vm.newMap();
        for (const [key, members] of groups) {
          put(vm, map, key, vm.newArray(members));
          if (vm.isDue) yield PAUSE;
        }
        return map;
      },
    }),
  },
);

const SET = native({
  name: 'Set',
  length: 0,
  cost: 1,
  construct(vm, _receiver, [values]) {
    if (isLongWalk(values)) return LONG;
    const set = vm.newSet();
    if (values === undefined || values === null) return set;
    const iterator = vm.iteratorOf(values);
    for (let each = vm.next(iterator); each !== DONE; each = vm.next(iterator)) put(vm, set, each, undefined);
    return set;
  },
  *constructSteps(vm, _receiver, [values]) {
    const set = vm.newSet();
    vm.hold([set]);
    const iterator = vm.iteratorOf(values);
    for (let each = vm.next(iterator); each !== DONE; each = vm.next(iterator)) {
      put(vm, set, each, undefined);
      if (vm.isDue) yield PAUSE;
    }
    return set;
  },
  hasInstance: (value) => value instanceof SetObject,
  unsupportedStatics: ['prototype'],
});

/** Looking up a key that was just joined copies it first. */
function readKey(vm: Machine, [key]: readonly Value[]): Machine {
  if (typeof key === 'string') vm.chargeRead(key.length);
  return vm;
}

function mapMethod(
  name: string,
  length: number,
  act: (vm: Machine, map: MapObject, args: readonly Value[]) => Value,
  cost: NativeCost = keyCost,
): NativeFunction {
  return native({
    name: `Map.prototype.${name}`,
    length,
    cost,
    call: (vm, receiver, args) => act(readKey(vm, args), thisMap(vm, receiver, name), args),
  });
}

function setMethod(
  name: string,
  length: number,
  act: (vm: Machine, set: SetObject, args: readonly Value[]) => Value,
  cost: NativeCost = keyCost,
): NativeFunction {
  return native({
    name: `Set.prototype.${name}`,
    length,
    cost,
    call: (vm, receiver, args) => act(readKey(vm, args), thisSet(vm, receiver, name), args),
  });
}

/** Numbers beyond 32 bits are looked up as strings (0.3 µs). Strings that V8 hashes by their length alone may be compared with every other key. */
function keyCost(receiver: Value, [key]: readonly Value[]): number {
  if (typeof key === 'number') return (key | 0) === key ? 1 : 8;
  if (typeof key !== 'string' || key.length <= LONGEST_HASHED) return 1;
  return 1 + (receiver instanceof CollectionObject ? receiver.size : 0) * (key.length >> 7);
}

// A compaction moves every entry, but only after as many were deleted: two units per deletion cover it.
const deleteCost: NativeCost = (receiver, args) => 1 + keyCost(receiver, args);

const MAP_METHODS = [
  mapMethod('clear', 0, (_vm, map) => {
    map.clear();
    return undefined;
  }),
  mapMethod('delete', 1, (_vm, map, [key]) => map.remove(key), deleteCost),
  mapMethod('entries', 0, (vm, map) => vm.newIterator(map, 'entries')),
  mapMethod('get', 1, (_vm, map, [key]) => map.get(key)),
  mapMethod('has', 1, (_vm, map, [key]) => map.has(key)),
  mapMethod('keys', 0, (vm, map) => vm.newIterator(map, 'keys')),
  mapMethod('set', 2, (vm, map, [key, value]) => {
    put(vm, map, key, value);
    return map;
  }),
  mapMethod('values', 0, (vm, map) => vm.newIterator(map, 'values')),
  forEach('Map.prototype.forEach', (vm, receiver) => thisMap(vm, receiver, 'forEach')),
];

const SET_METHODS = [
  setMethod('add', 1, (vm, set, [value]) => {
    put(vm, set, value, undefined);
    return set;
  }),
  setMethod('clear', 0, (_vm, set) => {
    set.clear();
    return undefined;
  }),
  setMethod('delete', 1, (_vm, set, [value]) => set.remove(value), deleteCost),
  setMethod('entries', 0, (vm, set) => vm.newIterator(set, 'entries')),
  setMethod('has', 1, (_vm, set, [value]) => set.has(value)),
  setMethod('values', 0, (vm, set) => vm.newIterator(set, 'values')),
  forEach('Set.prototype.forEach', (vm, receiver) => thisSet(vm, receiver, 'forEach')),
];

/** Entries added meanwhile are visited, deleted ones are not, because entry numbers ascend. */
function forEach(name: string, collectionOf: (vm: Machine, receiver: Value) => MapObject | SetObject): NativeFunction {
  return native({
    name,
    length: 1,
    cost: 1,
    *steps(vm, receiver, args) {
      const collection = collectionOf(vm, receiver);
      vm.requireCallable(args[0], 'The argument of forEach()');
      let at = collection.seek(0);
      while (at >= 0) {
        vm.charge(1);
        const number = collection.numbers[at];
        const key = collection.keys[at] as Value;
        yield call(args[0], collection instanceof MapObject ? collection.values[at] : key, key, collection);
        at = collection.seek(number + 1);
      }
      return undefined;
    },
  });
}

const next = native({
  name: 'Iterator.prototype.next',
  length: 0,
  cost: 2,
  call(vm, receiver) {
    const value = vm.next(thisIterator(vm, receiver));
    const result = vm.newObject();
    vm.defineProperty(result, 'value', value === DONE ? undefined : value);
    vm.defineProperty(result, 'done', value === DONE);
    return result;
  },
});

const setTable: Record<string, NativeFunction> = Object.assign(Object.create(null), methods(SET_METHODS));
// JavaScript's own alias: Set.prototype.keys is the function `values`.
setTable.keys = setTable.values;

export const COLLECTIONS: BuiltinFamily = {
  globals: { Map: MAP, Set: SET },
  types: {
    map: {
      methods: methods(MAP_METHODS),
      members: { size: (map: MapObject) => map.size },
      unsupported: ['constructor', 'getOrInsert', 'getOrInsertComputed'],
    },
    set: {
      methods: Object.freeze(setTable),
      members: { size: (set: SetObject) => set.size },
      unsupported: [
        ...['constructor', 'difference', 'intersection', 'isDisjointFrom', 'isSubsetOf', 'isSupersetOf', 'symmetricDifference', 'union'],
      ],
    },
    iterator: {
      methods: methods([next]),
      unsupported: ['constructor', 'drop', 'every', 'filter', 'find', 'flatMap', 'forEach', 'map', 'reduce', 'some', 'take', 'toArray'],
    },
  },
};
