// `JSON.parse` and `JSON.stringify`.
import { type BuiltinFamily, call, type Machine, namespace, native, type Steps } from '../vm/native.js';
import { ArrayObject, HeapObject, isCallable, newProperties, type Value } from '../vm/values.js';
import { byFirst } from './cost.js';
import { readJson } from './json-read.js';
import { writeJson } from './json-write.js';

const LONGEST_INDENT = 10;
const DEEPEST = 2_000;

const parse = native({
  name: 'JSON.parse',
  length: 2,
  cost: byFirst,
  *steps(vm, _receiver, [text, reviver]) {
    const value = yield* readJson(vm, yield* vm.toStringSteps(text));
    if (!isCallable(reviver)) return value;
    const props = newProperties();
    props[''] = value;
    return yield* revive(vm, vm.newObject(props), '', reviver, 0);
  },
});

/** Inner values first; those for which the reviver returns `undefined` are deleted. */
function* revive(vm: Machine, holder: HeapObject, key: string, reviver: Value, depth: number): Steps<Value> {
  if (depth > DEEPEST) throw vm.error('RangeError', `JSON.parse() cannot revive values that are nested deeper than ${DEEPEST}`);
  vm.charge(1);
  const value = vm.getProperty(holder, key);
  if (value instanceof HeapObject) {
    const keys = value instanceof ArrayObject ? null : vm.ownKeys(value);
    const count = keys === null ? (value as ArrayObject).elements.length : keys.length;
    for (let at = 0; at < count; at++) {
      const each = keys === null ? String(at) : keys[at];
      const replaced = yield* revive(vm, value, each, reviver, depth + 1);
      if (replaced === undefined) {
        if (!value.frozen) vm.deleteProperty(value, each);
      } else if (!value.frozen) vm.defineProperty(value, each, replaced);
    }
  }
  return yield call(reviver, key, value);
}

const stringify = native({
  name: 'JSON.stringify',
  length: 3,
  cost: byFirst,
  *steps(vm, _receiver, [value, replacer, space]) {
    const names = replacer instanceof ArrayObject ? nameList(vm, replacer) : undefined;
    return yield* writeJson(vm, value, { replacer: isCallable(replacer) ? replacer : undefined, names, indent: indentOf(vm, space) });
  },
});

function nameList(vm: Machine, { elements }: ArrayObject): string[] {
  vm.charge(elements.length);
  const names = new Set<string>();
  for (const each of elements) if (typeof each === 'string' || typeof each === 'number') names.add(String(each));
  return [...names];
}

function indentOf(vm: Machine, space: Value): string {
  if (typeof space === 'number') return ' '.repeat(Math.min(LONGEST_INDENT, Math.max(0, vm.toInteger(space))));
  return typeof space === 'string' ? space.slice(0, LONGEST_INDENT) : '';
}

export const JSONS: BuiltinFamily = {
  globals: { JSON: namespace('JSON', { parse, stringify }, ['rawJSON', 'isRawJSON']) },
};
