// `Object`, and the methods that every object has.
import { type BuiltinFamily, DONE, LONG, type Machine, methods, native, PAUSE, type Steps } from '../vm/native.js';
import { builtInName, isBuiltIn, isLong, LONG_LIST, ownKeysSteps } from '../vm/properties.js';
import {
  ArrayObject,
  DateObject,
  ErrorObject,
  HeapObject,
  IteratorObject,
  isCallable,
  MapObject,
  NamespaceObject,
  PromiseObject,
  SetObject,
  type Value,
} from '../vm/values.js';
import { byFirst } from './cost.js';
import { groupBy } from './group-by.js';

/** What `Object.keys` and similar functions accept: anything but undefined and null. */
function requireObject(vm: Machine, value: Value, what: string): void {
  if (value === undefined || value === null) throw vm.error('TypeError', `${what} was given ${value}. Pass an object.`);
}

/** Of an object with few of them; of a frozen or restored one that is not known before they are listed. */
function fewKeys(vm: Machine, value: Value, what: string): string[] | undefined {
  requireObject(vm, value, what);
  if (isLong(value) || (value instanceof HeapObject && value.added > LONG_LIST)) return undefined;
  const keys = vm.ownKeys(value);
  return keys.length > LONG_LIST ? undefined : keys;
}

function* keysOf(vm: Machine, value: Value, what: string): Steps<string[]> {
  requireObject(vm, value, what);
  return yield* ownKeysSteps(vm, value);
}

function entryOf(vm: Machine, object: Value, key: string): Value {
  return vm.newArray([key, vm.getProperty(object, key)]);
}

function construct(vm: Machine, _receiver: Value, args: readonly Value[]): Value {
  const value = args[0];
  if (value instanceof HeapObject) return value;
  if (value === undefined || value === null) return vm.newObject();
  throw wrapper(vm, 'Object(value)');
}

function wrapper(vm: Machine, what: string): Error {
  return vm.error('TypeError', `${what} would wrap a primitive in an object, which Flow does not have. Use the value itself.`);
}

const OBJECT = native(
  {
    name: 'Object',
    length: 1,
    cost: 1,
    call: construct,
    construct,
    hasInstance: (value) => value instanceof HeapObject,
    unsupportedStatics: [
      ...['create', 'defineProperties', 'defineProperty', 'getOwnPropertyDescriptor', 'getOwnPropertyDescriptors', 'getOwnPropertyNames'],
      ...[
        'getOwnPropertySymbols',
        'getPrototypeOf',
        'isExtensible',
        'isSealed',
        'preventExtensions',
        'prototype',
        'seal',
        'setPrototypeOf',
      ],
    ],
  },
  {
    keys: native({
      name: 'Object.keys',
      length: 1,
      cost: 1,
      call(vm, _receiver, args) {
        const keys = fewKeys(vm, args[0], 'Object.keys()');
        return keys === undefined ? LONG : vm.newArray(keys);
      },
      *steps(vm, _receiver, args) {
        return vm.newArray(yield* keysOf(vm, args[0], 'Object.keys()'));
      },
    }),
    values: native({
      name: 'Object.values',
      length: 1,
      cost: 1,
      call(vm, _receiver, args) {
        const values: Value[] | undefined = fewKeys(vm, args[0], 'Object.values()');
        if (values === undefined) return LONG;
        vm.charge(2 * values.length);
        for (let at = 0; at < values.length; at++) values[at] = vm.getProperty(args[0], values[at] as string);
        return vm.newArray(values);
      },
      *steps(vm, _receiver, args) {
        const values: Value[] = yield* keysOf(vm, args[0], 'Object.values()');
        for (let at = 0; at < values.length; at++) {
          vm.charge(2);
          values[at] = vm.getProperty(args[0], values[at] as string);
          if (vm.isDue) yield PAUSE;
        }
        return vm.newArray(values);
      },
    }),
    entries: native({
      name: 'Object.entries',
      length: 1,
      cost: 1,
      call(vm, _receiver, args) {
        const entries: Value[] | undefined = fewKeys(vm, args[0], 'Object.entries()');
        if (entries === undefined) return LONG;
        vm.charge(2 * entries.length);
        for (let at = 0; at < entries.length; at++) entries[at] = entryOf(vm, args[0], entries[at] as string);
        return vm.newArray(entries);
      },
      *steps(vm, _receiver, args) {
        const entries: Value[] = yield* keysOf(vm, args[0], 'Object.entries()');
        vm.hold(entries);
        for (let at = 0; at < entries.length; at++) {
          vm.charge(2);
          entries[at] = entryOf(vm, args[0], entries[at] as string);
          if (vm.isDue) yield PAUSE;
        }
        return vm.newArray(entries);
      },
    }),
    fromEntries: native({
      name: 'Object.fromEntries',
      length: 1,
      cost: byFirst,
      // Stepped, because a key may be written by flow code and the iterator must not be read twice.
      *steps(vm, _receiver, args) {
        const target = vm.newObject();
        vm.hold([target]);
        const iterator = vm.iteratorOf(args[0]);
        for (let entry = vm.next(iterator); entry !== DONE; entry = vm.next(iterator)) {
          if (!(entry instanceof HeapObject)) throw vm.error('TypeError', 'Object.fromEntries() needs pairs [key, value]');
          const value = vm.getProperty(entry, '1');
          vm.defineProperty(target, yield* vm.toStringSteps(vm.getProperty(entry, '0')), value);
          if (vm.isDue) yield PAUSE;
        }
        return target;
      },
    }),
    assign: native({
      name: 'Object.assign',
      length: 2,
      cost: (_receiver, args) => 1 + args.length,
      // Stepped, because the length of an array may be written by flow code between two properties.
      *steps(vm, _receiver, args) {
        const [target, ...sources] = args;
        if (target === undefined || target === null) throw vm.error('TypeError', 'Object.assign() needs an object to assign to');
        if (!(target instanceof HeapObject)) throw wrapper(vm, 'Object.assign(value)');
        for (const source of sources) {
          if (source === undefined || source === null) continue;
          for (const key of yield* ownKeysSteps(vm, source)) {
            vm.charge(2);
            const value = vm.getProperty(source, key);
            if (value instanceof HeapObject) yield* vm.setPropertySteps(target, key, value);
            else vm.setProperty(target, key, value);
            if (vm.isDue) yield PAUSE;
          }
        }
        return target;
      },
    }),
    hasOwn: native({
      name: 'Object.hasOwn',
      length: 2,
      cost: 1,
      call(vm, _receiver, args) {
        if (args[0] === undefined || args[0] === null) throw vm.error('TypeError', `Object.hasOwn() was given ${args[0]}. Pass an object.`);
        return vm.hasOwn(args[0], vm.toPropertyKey(args[1]));
      },
    }),
    is: native({ name: 'Object.is', length: 2, cost: 1, call: (_vm, _receiver, args) => Object.is(args[0], args[1]) }),
    freeze: native({
      name: 'Object.freeze',
      length: 1,
      cost: 1,
      call(vm, _receiver, args) {
        const [value] = args;
        if (!(value instanceof HeapObject)) return value;
        // All runs share the built-ins: none may observe that another one froze one.
        if (isBuiltIn(value)) throw vm.error('TypeError', `Cannot freeze the built-in ${builtInName(value)}: no flow can change it anyway`);
        value.freeze();
        return value;
      },
    }),
    isFrozen: native({
      name: 'Object.isFrozen',
      length: 1,
      cost: 1,
      call: (_vm, _receiver, args) => !(args[0] instanceof HeapObject) || args[0].frozen,
    }),
    groupBy: native({
      name: 'Object.groupBy',
      length: 2,
      cost: byFirst,
      *steps(vm, _receiver, args) {
        const groups = yield* groupBy(vm, args[0], args[1], true);
        const target = vm.newObject();
        for (const [key, members] of groups) {
          vm.defineProperty(target, key as string, vm.newArray(members));
          if (vm.isDue) yield PAUSE;
        }
        return target;
      },
    }),
  },
);

/** The tag in `[object …]`. */
function tagOf(value: Value): string {
  if (value === undefined) return 'Undefined';
  if (value === null) return 'Null';
  if (value instanceof ArrayObject) return 'Array';
  if (isCallable(value)) return 'Function';
  if (value instanceof ErrorObject) return 'Error';
  if (value instanceof DateObject) return 'Date';
  if (value instanceof MapObject) return 'Map';
  if (value instanceof SetObject) return 'Set';
  if (value instanceof PromiseObject) return 'Promise';
  if (value instanceof NamespaceObject && (value.name === 'Math' || value.name === 'JSON')) return value.name;
  if (value instanceof IteratorObject) return iteratorTag(value);
  return typeof value === 'object' ? 'Object' : value.constructor.name;
}

function iteratorTag({ target }: IteratorObject): string {
  if (target instanceof MapObject) return 'Map Iterator';
  if (target instanceof SetObject) return 'Set Iterator';
  return typeof target === 'string' ? 'String Iterator' : 'Array Iterator';
}

const OBJECT_METHODS = [
  native({ name: 'Object.prototype.toString', length: 0, cost: 1, call: (_vm, receiver) => `[object ${tagOf(receiver)}]` }),
  native({
    name: 'Object.prototype.valueOf',
    length: 0,
    cost: 1,
    call(vm, receiver) {
      if (receiver === undefined || receiver === null) throw vm.error('TypeError', 'valueOf() was called without an object');
      if (!(receiver instanceof HeapObject)) throw wrapper(vm, 'Object.prototype.valueOf()');
      return receiver;
    },
  }),
  native({
    name: 'Object.prototype.hasOwnProperty',
    length: 1,
    cost: 1,
    call(vm, receiver, args) {
      const key = vm.toPropertyKey(args[0]);
      if (receiver === undefined || receiver === null) throw vm.error('TypeError', 'hasOwnProperty() was called without an object');
      return vm.hasOwn(receiver, key);
    },
  }),
];

export const OBJECTS: BuiltinFamily = {
  globals: { Object: OBJECT },
  types: {
    object: {
      methods: methods(OBJECT_METHODS),
      unsupported: [
        ...['constructor', '__proto__', 'isPrototypeOf', 'propertyIsEnumerable', 'toLocaleString'],
        ...['__defineGetter__', '__defineSetter__', '__lookupGetter__', '__lookupSetter__'],
      ],
    },
    function: {
      methods: methods([]),
      unsupported: ['apply', 'bind', 'call', 'toString', 'prototype', 'arguments', 'caller', 'constructor'],
    },
  },
};
