// Advice for members that JavaScript has, people write and Flow does not have.

const OWN_PROPERTIES = 'Objects of a flow have plain properties only: assign them, or write an object literal.';
const NO_PROTOTYPES = 'Objects of a flow have no prototype to read or change: write functions that return objects.';
const ARROW = 'Write an arrow function that calls it: (value) => fn(value).';
const MATCH = 'Use includes, indexOf, startsWith or split, or match inside a task.';

/** What to write instead of a static member, by its full name. */
export const ADVICE_FOR_STATIC: ReadonlyMap<string, string> = new Map([
  ['Object.create', 'Write an object literal: {}, or { ...other } for a copy.'],
  ['Object.defineProperty', OWN_PROPERTIES],
  ['Object.defineProperties', OWN_PROPERTIES],
  ['Object.getOwnPropertyNames', 'Write Object.keys(…): every property of a flow is enumerable.'],
  ['Object.getOwnPropertyDescriptor', 'Read the property, or ask Object.hasOwn(…).'],
  ['Object.getOwnPropertyDescriptors', 'Write Object.entries(…).'],
  ['Object.getPrototypeOf', NO_PROTOTYPES],
  ['Object.setPrototypeOf', NO_PROTOTYPES],
  ['Object.prototype', NO_PROTOTYPES],
  ['Object.seal', 'Write Object.freeze(…), or leave it out.'],
  ['Object.preventExtensions', 'Write Object.freeze(…), or leave it out.'],
  ['Object.isSealed', 'Write Object.isFrozen(…).'],
  ['Object.isExtensible', 'Write !Object.isFrozen(…).'],
  ['Array.fromAsync', 'Write Array.from(await Promise.all(…)).'],
  ['Array.prototype', NO_PROTOTYPES],
]);

/** What to write instead of a member of a value, by its name. */
export const ADVICE_FOR_MEMBER: ReadonlyMap<string, string> = new Map([
  ['bind', ARROW],
  ['call', 'Call the function itself: fn(value).'],
  ['apply', 'Call the function itself: fn(...values).'],
  ['constructor', 'Use instanceof with a built-in type, typeof, or the name of an error.'],
  ['__proto__', NO_PROTOTYPES],
  ['prototype', NO_PROTOTYPES],
  ['match', MATCH],
  ['matchAll', MATCH],
  ['search', MATCH],
  ['toString', 'Use the name of the function: fn.name.'],
]);

/** Of members without advice of their own. */
export const DO_IT_IN_A_TASK = 'JavaScript has it and Flow does not: do without it, or use it in a task.';
