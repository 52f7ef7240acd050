// What holds for every built-in: it has a cost, it does one thing per kind of call, and its name is not refused as well.
import { describe, expect, it } from '@jest/globals';
import { ArrayObject, NamespaceObject, NativeFunction, newProperties, PlainObject, type Value } from '../vm/values.js';
import { FAMILIES } from './index.js';

function everyNative(): Map<string, NativeFunction> {
  const found = new Map<string, NativeFunction>();
  const visit = (value: Value) => {
    if (value instanceof NamespaceObject) Object.values(value.members).forEach(visit);
    if (!(value instanceof NativeFunction)) return;
    found.set(value.definition.name, value);
    Object.values(value.statics).forEach(visit);
  };
  for (const { globals, types } of FAMILIES) {
    Object.values(globals ?? {}).forEach(visit);
    for (const table of Object.values(types ?? {})) Object.values(table.methods).forEach(visit);
  }
  return found;
}

const natives = [...everyNative()];
const LONG = 'x'.repeat(16_000);
const RECEIVERS: Value[] = [undefined, null, 5, 'text', LONG, new ArrayObject([1, 2]), new PlainObject(newProperties())];

/** Their work does not grow with the receiver: they read one place, or create a slice that is charged by its length. */
const CONSTANT = /^String\.prototype\.(at|charAt|charCodeAt|codePointAt|slice|substr|substring|toString|valueOf)$/;

describe('built-ins', () => {
  it.each(natives)('%s has a cost for any receiver and arguments', (_name, { definition }) => {
    const { cost } = definition;
    for (const receiver of RECEIVERS) {
      const units = typeof cost === 'number' ? cost : cost(receiver, RECEIVERS);
      expect(units).toBeGreaterThanOrEqual(1);
      expect(Number.isFinite(units)).toBe(true);
    }
  });

  it.each(natives.filter(([name]) => name.startsWith('String.prototype.') && !CONSTANT.test(name)))(
    '%s costs more on a long string',
    (_name, { definition }) => {
      expect(typeof definition.cost).toBe('function');
      if (typeof definition.cost === 'function') expect(definition.cost(LONG, [])).toBeGreaterThanOrEqual(LONG.length / 16);
    },
  );

  it.each(natives)('%s does something when called or constructed', (_name, { definition }) => {
    const { call, steps, construct, constructSteps } = definition;
    expect([call, steps, construct, constructSteps].some(Boolean)).toBe(true);
  });

  it('a name is either available or refused, never both', () => {
    for (const { types } of FAMILIES) {
      for (const { methods, members, unsupported } of Object.values(types ?? {})) {
        expect(unsupported.filter((name) => Object.hasOwn(methods, name) || Object.hasOwn(members ?? {}, name))).toEqual([]);
      }
    }
  });
});
