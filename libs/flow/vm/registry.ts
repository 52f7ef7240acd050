// Merges every family of built-ins into the one frozen table that property look-up and snapshots use.

import { FAMILIES } from '../builtins/index.js';
import { DURABLE_FAMILY } from './durable.js';
import type { NativeDefinition, TypeName, TypeTable } from './native.js';
import { BOUND_NATIVES, HANDLE_METHODS, PROMISE_FAMILY } from './promise-builtins.js';
import { NamespaceObject, NativeFunction, type Properties, type Value } from './values.js';

export interface Registry {
  /** Global names, without the run's own `Inputs` and `Context`. */
  readonly globals: ReadonlyMap<string, Value>;
  readonly types: Readonly<Record<TypeName, Required<TypeTable> & { readonly refused: ReadonlySet<string> }>>;
  /** Shared built-in objects by the name that snapshots store. */
  readonly byName: ReadonlyMap<string, NativeFunction | NamespaceObject>;
  /** Natives that are made at run time over flow values. */
  readonly bound: ReadonlyMap<string, NativeDefinition>;
}

// What every JavaScript object inherits and Flow does not have.
const REFUSED_EVERYWHERE = [
  'constructor',
  '__proto__',
  '__defineGetter__',
  '__defineSetter__',
  '__lookupGetter__',
  '__lookupSetter__',
  'isPrototypeOf',
  'propertyIsEnumerable',
  'toLocaleString',
];

let merged: Registry | undefined;

export function registry(): Registry {
  merged ??= merge();
  return merged;
}

function merge(): Registry {
  const globals = new Map<string, Value>();
  const byName = new Map<string, NativeFunction | NamespaceObject>();
  const types: Record<string, Required<TypeTable> & { refused: ReadonlySet<string> }> = Object.create(null);
  const remember = (value: Value) => {
    if (value instanceof NativeFunction) {
      const known = byName.get(value.definition.name);
      if (known && known !== value) throw new Error(`Two built-ins are called ${value.definition.name}.`);
      byName.set(value.definition.name, value);
      if (!known) rememberAll(value.statics);
    } else if (value instanceof NamespaceObject) {
      byName.set(value.name, value);
      rememberAll(value.members);
    }
  };
  const rememberAll = (members: Readonly<Properties>) => {
    for (const key of Object.keys(members)) remember(members[key]);
  };
  for (const family of [...FAMILIES, PROMISE_FAMILY, DURABLE_FAMILY]) {
    for (const [name, value] of Object.entries(family.globals ?? {})) {
      if (globals.has(name)) throw new Error(`Two families declare ${name}.`);
      globals.set(name, value);
      remember(value);
    }
    for (const [type, table] of Object.entries(family.types ?? {})) {
      if (types[type]) throw new Error(`Two families declare the methods of ${type}.`);
      const methods: Record<string, NativeFunction> = Object.assign(Object.create(null), table.methods);
      const members: Record<string, (value: never) => Value> = Object.assign(Object.create(null), table.members);
      types[type] = { methods, members, unsupported: table.unsupported, refused: new Set([...table.unsupported, ...REFUSED_EVERYWHERE]) };
      for (const each of Object.values(table.methods)) remember(each);
    }
  }
  for (const type of ['object', 'array', 'string', 'number', 'boolean', 'function', 'error', 'date', 'map', 'set', 'iterator', 'promise']) {
    types[type] ??= { methods: Object.create(null), members: Object.create(null), unsupported: [], refused: new Set(REFUSED_EVERYWHERE) };
  }
  for (const each of HANDLE_METHODS) remember(each);
  const bound = new Map(BOUND_NATIVES.map((each) => [each.name, each]));
  return { globals, types: types as Registry['types'], byName, bound };
}

/** Every name that a flow sees without declaring it. */
export function globalNames(): ReadonlySet<string> {
  return new Set([...registry().globals.keys(), 'Context', 'undefined']);
}

/** The members that a global name has in Flow, for look-ups that the compiler can see; undefined when it has none of its own. */
export function globalMembers(name: string): ReadonlySet<string> | undefined {
  const { globals, types } = registry();
  const value = globals.get(name);
  if (value instanceof NamespaceObject) return new Set([...Object.keys(value.members), ...Object.keys(types.object.methods)]);
  if (!(value instanceof NativeFunction)) return undefined;
  const inherited = [...Object.keys(types.function.methods), ...Object.keys(types.object.methods)];
  return new Set([...Object.keys(value.statics), ...inherited.filter((each) => !types.function.refused.has(each)), 'name', 'length']);
}

/** What JavaScript has on a global name and Flow does not. */
export function unsupportedMembers(name: string): ReadonlySet<string> {
  const value = registry().globals.get(name);
  if (value instanceof NamespaceObject) return new Set(value.unsupported);
  if (!(value instanceof NativeFunction)) return new Set();
  return new Set([...(value.definition.unsupportedStatics ?? []), 'prototype', ...registry().types.function.refused]);
}

/** What the values of a type have, and what they have in JavaScript only. */
export function typeMembers(type: TypeName): { known: ReadonlySet<string>; unsupported: ReadonlySet<string> } {
  const { methods, members, refused } = registry().types[type];
  const inherited = Object.keys(registry().types.object.methods).filter((name) => !refused.has(name));
  const own = type === 'string' || type === 'array' || type === 'function' ? ['length'] : [];
  return { known: new Set([...own, ...Object.keys(methods), ...Object.keys(members), ...inherited]), unsupported: refused };
}
