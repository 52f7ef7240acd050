// `encodeURIComponent` and similar functions.
import { type BuiltinFamily, type Machine, native } from '../vm/native.js';
import type { NativeFunction, Value } from '../vm/values.js';
import { sizeOf } from './cost.js';

// A character becomes at most nine ("%E2%82%AC"), so the whole result is charged before it is made.
const GROWTH = 9;

function uri(name: string, convert: (text: string) => string, growth: number): NativeFunction {
  return native({
    name,
    length: 1,
    cost: (_receiver, args) => 4 * sizeOf(args[0]),
    call(vm: Machine, _receiver: Value, args) {
      const text = vm.toString(args[0]);
      vm.chargeString(text.length * growth);
      try {
        return convert(text);
      } catch {
        // The only thing the host's function can throw is a URIError.
        throw vm.error('URIError', `${name}() was given a malformed string`);
      }
    },
  });
}

export const URIS: BuiltinFamily = {
  globals: {
    encodeURIComponent: uri('encodeURIComponent', encodeURIComponent, GROWTH),
    encodeURI: uri('encodeURI', encodeURI, GROWTH),
    decodeURIComponent: uri('decodeURIComponent', decodeURIComponent, 1),
    decodeURI: uri('decodeURI', decodeURI, 1),
  },
};
