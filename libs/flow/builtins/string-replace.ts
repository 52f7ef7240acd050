// `replace` and `replaceAll` of a string; the replacement is a string with `$` patterns or a function.
import { call, type Machine, native, PAUSE, type Steps } from '../vm/native.js';
import { isCallable, type NativeFunction, type Value } from '../vm/values.js';
import { byReceiver } from './cost.js';
import { Pieces } from './pieces.js';
import { wrongReceiver } from './receiver.js';
import { Finder } from './search.js';

function replacer(name: 'replace' | 'replaceAll'): NativeFunction {
  return native({
    name: `String.prototype.${name}`,
    length: 2,
    cost: byReceiver,
    *steps(vm, receiver, args) {
      if (receiver === undefined || receiver === null) throw wrongReceiver(vm, `String.prototype.${name}`, 'a string');
      const text = yield* vm.toStringSteps(receiver);
      const wanted = yield* vm.toStringSteps(args[0]);
      const replacement = isCallable(args[1]) ? args[1] : yield* vm.toStringSteps(args[1]);
      return yield* rebuild(vm, text, wanted, replacement, name === 'replace' ? 1 : Number.POSITIVE_INFINITY);
    },
  });
}

function* rebuild(vm: Machine, text: string, wanted: string, replacement: Value, most: number): Steps<string> {
  const pieces = new Pieces(vm);
  const add = (part: string) => {
    vm.chargeString(part.length);
    pieces.add(part);
  };
  let end = 0;
  // An empty string is found before every character and at the end.
  const step = Math.max(1, wanted.length);
  const places: number[] = [];
  const finder = new Finder(vm, text, wanted);
  for (let at = finder.next(0); at >= 0 && places.length < most; at = at + step > text.length ? -1 : finder.next(at + step)) {
    vm.charge(1);
    vm.chargeElements(1);
    places.push(at);
    if (vm.isDue) yield PAUSE;
  }
  for (const at of places) {
    if (vm.isDue) yield PAUSE;
    add(text.slice(end, at));
    if (typeof replacement === 'string') addPattern(vm, replacement, text, wanted, at, add);
    else add(yield* vm.toStringSteps(yield call(replacement, wanted, at, text)));
    end = at + wanted.length;
  }
  if (places.length === 0) return text;
  add(text.slice(end));
  return pieces.text();
}

/** Expands `$$`, `$&`, `` $` `` and `$'`; without a regular expression there are no groups. */
function addPattern(vm: Machine, pattern: string, text: string, wanted: string, at: number, add: (part: string) => void): void {
  let from = 0;
  for (let dollar = pattern.indexOf('$'); dollar >= 0; dollar = pattern.indexOf('$', from)) {
    vm.charge(1);
    const kind = pattern[dollar + 1];
    add(pattern.slice(from, dollar));
    from = dollar + 2;
    if (kind === '$') add('$');
    else if (kind === '&') add(wanted);
    else if (kind === '`') add(text.slice(0, at));
    else if (kind === "'") add(text.slice(at + wanted.length));
    else {
      add('$');
      from = dollar + 1;
    }
  }
  add(pattern.slice(from));
}

export const STRING_REPLACES: readonly NativeFunction[] = [replacer('replace'), replacer('replaceAll')];
