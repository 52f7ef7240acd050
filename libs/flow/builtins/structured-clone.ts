// `structuredClone`: copies a value with everything it reaches, preserving shared references and cycles.

import { type ErrorKind } from '../error-kinds.js';
import { ENTRY_BYTES } from '../vm/memory.js';
import { type BuiltinFamily, type Machine, native, PAUSE, type Steps } from '../vm/native.js';
import { isLong, LONG_LIST } from '../vm/properties.js';
import {
  ArrayObject,
  CollectionObject,
  DateObject,
  ErrorObject,
  HeapObject,
  MapObject,
  PlainObject,
  SetObject,
  TOMBSTONE,
  type Value,
} from '../vm/values.js';

// The algorithm of the web platform keeps these names; an error of any other name arrives as a plain Error.
const KEPT_NAMES: readonly string[] = ['Error', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];

/** Fuel of an object that is remembered with its copy. */
const COPY_WORK = 16;

class Cloner {
  private readonly copies = new Map<HeapObject, HeapObject>();
  /** Objects whose copy exists and needs its contents: a stack instead of recursion, so that depth costs no host stack. */
  private readonly unfinished: HeapObject[] = [];

  constructor(private readonly vm: Machine) {}

  *clone(value: Value): Steps<Value> {
    const copy = this.copy(value);
    this.vm.hold([copy]);
    for (let source = this.unfinished.pop(); source !== undefined; source = this.unfinished.pop()) {
      if (this.vm.isDue) yield PAUSE;
      if (!this.fillShort(source)) yield* this.fill(source);
    }
    return copy;
  }

  private copy(value: Value): Value {
    if (!(value instanceof HeapObject)) return value;
    const known = this.copies.get(value);
    if (known) return known;
    this.vm.charge(COPY_WORK);
    const made = this.make(value);
    this.copies.set(value, made);
    this.unfinished.push(value);
    return made;
  }

  private make(value: HeapObject): HeapObject {
    const { vm } = this;
    if (value instanceof ArrayObject) {
      vm.charge(value.elements.length);
      vm.chargeElements(value.elements.length);
      return vm.newArray(new Array(value.elements.length));
    }
    if (value instanceof PlainObject) return vm.newObject();
    if (value instanceof MapObject) return vm.newMap();
    if (value instanceof SetObject) return vm.newSet();
    if (value instanceof DateObject) return vm.newDate(value.time);
    if (value instanceof ErrorObject) return vm.newError(keptKind(vm, value));
    throw notCloneable(vm);
  }

  /** Without a generator what is short; false if it is not. */
  private fillShort(source: HeapObject): boolean {
    const target = this.copies.get(source) as HeapObject;
    if (source instanceof CollectionObject || isLong(source)) return false;
    if (source instanceof ErrorObject) this.fillError(source, target as ErrorObject);
    else if (source instanceof ArrayObject || source instanceof PlainObject) {
      const names = source.props === null ? [] : Object.keys(source.props);
      if (names.length > LONG_LIST) return false;
      if (source instanceof ArrayObject) {
        const { elements } = target as ArrayObject;
        for (let at = 0; at < source.elements.length; at++) if (at in source.elements) elements[at] = this.copy(source.elements[at]);
      }
      this.vm.charge(6 * names.length);
      for (const key of names) this.vm.defineProperty(target, key, this.copy(source.props?.[key]));
    }
    return true;
  }

  private *fill(source: HeapObject): Steps<void> {
    const { vm } = this;
    const target = this.copies.get(source);
    if (source instanceof ArrayObject) {
      const { elements } = target as ArrayObject;
      for (let at = 0; at < source.elements.length; at++) {
        if (at in source.elements) elements[at] = this.copy(source.elements[at]);
        if (vm.isDue) yield PAUSE;
      }
      if (source.props !== null) yield* this.copyProperties(source, target as ArrayObject);
    } else if (source instanceof PlainObject) yield* this.copyProperties(source, target as PlainObject);
    else if (source instanceof MapObject || source instanceof SetObject)
      yield* this.fillCollection(source, target as MapObject | SetObject);
  }

  private *copyProperties(source: HeapObject, target: HeapObject): Steps<void> {
    const { vm } = this;
    const names = Object.keys(source.props ?? {});
    vm.charge(6 * names.length);
    for (const key of names) {
      vm.defineProperty(target, key, this.copy(source.props?.[key]));
      if (vm.isDue) yield PAUSE;
    }
  }

  private *fillCollection(source: MapObject | SetObject, target: MapObject | SetObject): Steps<void> {
    const { vm } = this;
    for (let at = 0; at < source.keys.length; at++) {
      vm.charge(2);
      const key = source.keys[at];
      if (key !== TOMBSTONE) {
        vm.charge(6);
        vm.chargeBytes(ENTRY_BYTES);
        target.put(this.copy(key), this.copy(source.values[at]));
      }
      if (vm.isDue) yield PAUSE;
    }
  }

  private fillError(source: ErrorObject, target: ErrorObject): void {
    if ('message' in source.hidden) target.hidden.message = this.vm.toString(source.hidden.message);
    if ('cause' in source.hidden) target.hidden.cause = this.copy(source.hidden.cause);
    target.stack = source.stack;
  }
}

function keptKind(vm: Machine, error: ErrorObject): ErrorKind {
  const name = vm.getProperty(error, 'name');
  return typeof name === 'string' && KEPT_NAMES.includes(name) ? (name as ErrorKind) : 'Error';
}

function notCloneable(vm: Machine): Error {
  const error = vm.newError('Error', 'structuredClone() cannot copy a function, a promise or an iterator');
  error.hidden.name = 'DataCloneError';
  error.hidden.code = 25;
  return vm.thrown(error);
}

export const CLONES: BuiltinFamily = {
  globals: {
    structuredClone: native({
      name: 'structuredClone',
      length: 1,
      cost: 1,
      *steps(vm, _receiver, args) {
        if (args.length === 0) throw vm.error('TypeError', 'structuredClone() needs a value');
        const options = args[1] ?? undefined;
        if (options !== undefined && !(options instanceof HeapObject))
          throw vm.error('TypeError', 'The options of structuredClone() must be an object');
        return yield* new Cloner(vm).clone(args[0]);
      },
    }),
  },
};
