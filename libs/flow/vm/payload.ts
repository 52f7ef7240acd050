// Payloads, the values that enter and leave a run as JSON text: strict on the way out, exact on the way in.

import { ARRAY_BYTES, ELEMENT_BYTES, FIRST_ELEMENT_BYTES, PLAIN_BYTES, PROPERTY_BYTES } from './memory.js';
import type { Machine, TypeName } from './native.js';
import { keepSparse, typeNameOf } from './properties.js';
import {
  ArrayObject,
  DateObject,
  FunctionObject,
  HeapObject,
  isCallable,
  MapObject,
  newProperties,
  PlainObject,
  PromiseObject,
  SetObject,
  type Value,
} from './values.js';

const MAX_DEPTH = 1_000;
/** The methods of a Date that `JSON.stringify` calls. */
const DATE_METHODS = ['toJSON', 'valueOf', 'toString', 'toISOString'];

/** As `JSON.stringify` would write it; what JSON would silently lose or change is a TypeError that names the path. */
export function writePayload(vm: Machine, value: Value, what: string, maxLength: number): string | undefined {
  if (value === undefined) return undefined;
  return new Writer(vm, what, maxLength).write(value, 0);
}

// Most payloads are flat: a list of what is being written is searched faster than a set is made.
const SEARCHED = 16;

// A key that is written as it is: what JSON escapes is not among these characters.
const PLAIN_KEY = /^[\w-]{1,40}$/;

class Writer {
  /** The objects that are being written, outermost first, and deep down all of them once more. */
  private readonly open: HeapObject[] = [];
  private openDeep: Set<HeapObject> | undefined;
  /** Keys and indices that lead to the value being written; used only to report where something is wrong. */
  private readonly path: (string | number)[] = [];
  constructor(
    private readonly vm: Machine,
    private readonly what: string,
    private readonly maxLength: number,
  ) {}
  private length = 0;

  /** Stops as soon as the text is too long: shared values may make it larger than memory. */
  private take(text: string): string {
    this.length += text.length;
    if (this.length > this.maxLength) throw this.tooLong();
    return text;
  }

  private tooLong(): Error {
    return this.vm.error('RangeError', `${this.what} has more than ${this.maxLength} characters of JSON. Pass a reference instead`);
  }

  private string(value: string): string {
    if (value.length + this.length > this.maxLength) throw this.tooLong();
    this.vm.chargeString(value.length);
    return this.take(JSON.stringify(value));
  }

  write(value: Value, depth: number): string {
    this.vm.charge(4);
    if (typeof value === 'string') return this.string(value);
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) throw this.refuse(String(value));
      return this.take(String(value === 0 ? 0 : value));
    }
    if (value === null || typeof value === 'boolean') return this.take(String(value));
    if (value === undefined) return this.take('null');
    if (this.isOpen(value)) throw this.refuse('a cycle');
    if (depth > MAX_DEPTH) throw this.vm.error('RangeError', `${this.what} is nested too deeply`);
    this.refuseOwnForm(value);
    if (value instanceof DateObject)
      return this.take(Number.isNaN(value.time) ? 'null' : JSON.stringify(new Date(value.time).toISOString()));
    if (value instanceof MapObject) throw this.refuse('a Map', 'Use Object.fromEntries(map).');
    if (value instanceof SetObject) throw this.refuse('a Set', 'Use [...set].');
    if (value instanceof PromiseObject) throw this.refuse('a promise', 'Write await before it.');
    if (isCallable(value)) throw this.refuse('a function');
    this.open.push(value);
    this.openDeep?.add(value);
    const text = value instanceof ArrayObject ? this.list(value, depth) : this.object(value, depth);
    this.openDeep?.delete(value);
    this.open.pop();
    return text;
  }

  private isOpen(value: HeapObject): boolean {
    if (this.open.length < SEARCHED) return this.open.includes(value);
    this.openDeep ??= new Set(this.open);
    return this.openDeep.has(value);
  }

  /** Methods that `JSON.stringify` would call on an array or a Date (a function elsewhere is refused as such): no flow code runs here. */
  private refuseOwnForm(value: HeapObject): void {
    const { props } = value;
    if (props === null) return;
    if (value instanceof ArrayObject && isCallable(props.toJSON)) throw this.refuse('an array with its own toJSON');
    const own = value instanceof DateObject ? DATE_METHODS.find((key) => key in props) : undefined;
    if (own) throw this.refuse(`a Date with its own ${own}`, 'Pass a string.');
  }

  private list({ elements }: ArrayObject, depth: number): string {
    const parts: string[] = [];
    this.length += 2 + elements.length;
    for (let at = 0; at < elements.length; at++) {
      this.path.push(at);
      parts.push(this.write(elements[at], depth + 1));
      this.path.pop();
    }
    return `[${parts.join(',')}]`;
  }

  private object({ props }: HeapObject, depth: number): string {
    const parts: string[] = [];
    this.length += 2;
    for (const key in props) {
      const value = props[key];
      if (value === undefined) continue;
      this.path.push(key);
      parts.push(`${this.key(key)}:${this.write(value, depth + 1)}`);
      this.path.pop();
    }
    return `{${parts.join(',')}}`;
  }

  private key(key: string): string {
    if (!PLAIN_KEY.test(key)) return this.string(key);
    this.vm.chargeString(key.length);
    return this.take(`"${key}"`);
  }

  private refuse(found: string, advice = ''): Error {
    const place = this.what + this.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
    return this.vm.error('TypeError', `${place} is ${found}, which JSON cannot hold.${advice && ` ${advice}`}`);
  }
}

/** Reads JSON text into flow values, without host recursion: payloads may be nested to any depth. */
export function readPayload(vm: Machine, text: string | undefined): Value {
  if (text === undefined) return undefined;
  vm.charge(text.length >> 4);
  vm.chargeBytes(text.length * 2);
  return fromHost(JSON.parse(text), vm);
}

type HostJson = null | boolean | number | string | HostJson[] | { [key: string]: HostJson };

/** With a machine the values are charged. */
export function fromHost(root: unknown, vm?: Machine): Value {
  const work: (() => void)[] = [];
  const convert = (host: HostJson): Value => {
    if (typeof host !== 'object' || host === null) return host;
    if (Array.isArray(host)) {
      const elements: Value[] = [];
      vm?.chargeBytes(ARRAY_BYTES + (host.length > 0 ? FIRST_ELEMENT_BYTES : 0) + host.length * ELEMENT_BYTES);
      work.push(() => {
        for (const each of host) elements.push(convert(each));
      });
      return new ArrayObject(elements);
    }
    const props = newProperties();
    vm?.chargeBytes(PLAIN_BYTES);
    work.push(() => {
      for (const key of Object.keys(host)) {
        keepSparse(props, key);
        vm?.chargeBytes(PROPERTY_BYTES);
        props[key] = convert(host[key]);
      }
    });
    return new PlainObject(props);
  };
  const value = convert(root as HostJson);
  // The objects may be filled in any order; only the order of keys within each matters.
  while (work.length > 0) work.pop()!();
  return value;
}

const WITH_ARTICLE: Readonly<Record<TypeName, string>> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  number: 'a number',
  boolean: 'a boolean',
  function: 'a function',
  error: 'an Error',
  date: 'a Date',
  map: 'a Map',
  set: 'a Set',
  iterator: 'an iterator',
  promise: 'a promise',
};

/** A short string for any value, for messages; never calls flow code. */
export function preview(value: Value): string {
  if (typeof value === 'string') return value.length > 200 ? `${value.slice(0, 200)}…` : value;
  if (!(value instanceof HeapObject)) return String(value);
  if (value instanceof ArrayObject) return `an array of ${value.elements.length}`;
  if (value instanceof FunctionObject && value.code.name !== '') return `the function ${value.code.name}`;
  return WITH_ARTICLE[typeNameOf(value)];
}
