// Shows a flow value as JSON for people: readable, cut where it is long, never an error.

import {
  ArrayObject,
  CollectionObject,
  DateObject,
  ErrorObject,
  FunctionObject,
  HeapObject,
  isCallable,
  MapObject,
  PromiseObject,
  TOMBSTONE,
  type Value,
} from '../vm/values.js';

/** JSON for people; what JSON cannot hold is a string in square brackets. */
export type DisplayJson = null | boolean | number | string | DisplayJson[] | { [key: string]: DisplayJson };

const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_STRING = 1_000;

/** Shared parts are shown wherever they are referred to, so that depth and items alone do not limit the whole. */
const MAX_PARTS = 2_000;

export function display(value: Value, open: readonly HeapObject[] = [], left = { parts: MAX_PARTS }): DisplayJson {
  if (--left.parts < 0) return '[…]';
  if (value === undefined) return '[undefined]';
  if (typeof value === 'number') return Number.isFinite(value) ? value : `[${value}]`;
  if (typeof value === 'string') return value.length > MAX_STRING ? `${value.slice(0, MAX_STRING)}…` : value;
  if (!(value instanceof HeapObject)) return value;
  if (open.includes(value)) return '[circular]';
  if (open.length >= MAX_DEPTH) return '[…]';
  const inside = [...open, value];
  if (value instanceof DateObject) return Number.isNaN(value.time) ? '[invalid date]' : new Date(value.time).toISOString();
  if (value instanceof PromiseObject) return '[promise]';
  if (isCallable(value)) return value instanceof FunctionObject ? `[function ${value.code.name}]` : '[built-in function]';
  if (value instanceof ArrayObject) return shorten(value.elements).map((each) => display(each, inside, left));
  if (value instanceof MapObject) return entriesOf(value).map(([key, each]) => [display(key, inside, left), display(each, inside, left)]);
  if (value instanceof CollectionObject) return entriesOf(value).map(([key]) => display(key, inside, left));
  const result: { [key: string]: DisplayJson } = Object.create(null);
  if (value instanceof ErrorObject) {
    result.name = display(value.hidden.name ?? value.errorKind, inside, left);
    for (const key of Object.keys(value.hidden)) result[key] = display(value.hidden[key], inside, left);
  }
  for (const key of shorten(Object.keys(value.props ?? {}))) result[key] = display(value.props![key], inside, left);
  return result;
}

function entriesOf(collection: CollectionObject): [Value, Value][] {
  const entries: [Value, Value][] = [];
  for (let at = 0; at < collection.keys.length && entries.length < MAX_ITEMS; at++) {
    const key = collection.keys[at];
    if (key !== TOMBSTONE) entries.push([key, collection.values[at]]);
  }
  return entries;
}

function shorten<T>(list: readonly T[]): T[] {
  return Array.from({ length: Math.min(list.length, MAX_ITEMS) }, (_, at) => list[at]);
}
