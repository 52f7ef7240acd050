// Every family of built-ins except promises and durable calls, which are in vm/.
import type { BuiltinFamily } from '../vm/native.js';
import { ARRAYS } from './array.js';
import { COLLECTIONS } from './collections.js';
import { CONSOLES } from './console.js';
import { CRYPTO } from './crypto.js';
import { DATES } from './date.js';
import { ERRORS } from './error.js';
import { JSONS } from './json.js';
import { MATH } from './math.js';
import { NUMBERS } from './number.js';
import { OBJECTS } from './object.js';
import { STRINGS } from './string.js';
import { CLONES } from './structured-clone.js';
import { URIS } from './uri.js';

export const FAMILIES: readonly BuiltinFamily[] = [
  OBJECTS,
  ARRAYS,
  STRINGS,
  NUMBERS,
  MATH,
  JSONS,
  DATES,
  COLLECTIONS,
  ERRORS,
  URIS,
  CLONES,
  CRYPTO,
  CONSOLES,
];
