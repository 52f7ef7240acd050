// `crypto.randomUUID`, with identifiers from the host.
import { type BuiltinFamily, namespace, native } from '../vm/native.js';

export const CRYPTO: BuiltinFamily = {
  globals: {
    crypto: namespace('crypto', { randomUUID: native({ name: 'crypto.randomUUID', length: 0, cost: 4, call: (vm) => vm.uuid() }) }, [
      'getRandomValues',
      'subtle',
    ]),
  },
};
