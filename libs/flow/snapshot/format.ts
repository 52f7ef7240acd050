// The snapshot format, version 2: what each array in the JSON text means.
//
// [version, fingerprint, nextId, pending, table, forgotten?]
//   fingerprint: of the program that the instruction pointers and slots belong to; empty after an upgrade from version 1
//   pending:   [id, kind, name, promise, timeoutMs?, muted?] of every pending durable call; kind is an index of CALL_KINDS, a
//              muted wait has a 1 (and null for no timeout)
//   table:     objects that are referred to more than once (or nested too deeply), by index
//   forgotten: [id, name] of started tasks whose outcome cannot be observed any more
//
// Values: strings, finite numbers, booleans and null are themselves; a JSON object is a plain object; an empty array is
// undefined; every other array begins with a tag of `Tag`. Reactions begin with a tag of `ReactionTag`.

export const SNAPSHOT_VERSION = 2;

/** Nesting up to which single-use objects are written in place: bounds host recursion in both directions. */
export const INLINE_DEPTH = 40;

export const CALL_KINDS = ['task', 'workflow', 'timer', 'wait'] as const;
export const COMBINATOR_KINDS = ['all', 'allSettled', 'any', 'race'] as const;
export const ITERATOR_MODES = ['keys', 'values', 'entries'] as const;
export const SPECIAL_NUMBERS: readonly number[] = [Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

export const Tag = {
  /** …elements */
  ARRAY: 0,
  /** index in the table */
  REFERENCE: 1,
  /** index of SPECIAL_NUMBERS */
  NUMBER: 2,
  /** count of array holes */
  HOLES: 3,
  /** a variable in its dead zone */
  UNINITIALIZED: 4,
  /** value of a captured variable */
  CELL: 5,
  /** function, given name or 0, …cells */
  FUNCTION: 6,
  /** name of a built-in */
  NATIVE: 7,
  /** name, …bound values */
  BOUND: 8,
  /** frozen 0/1, own properties or 0, the object itself */
  EXTRA: 9,
  /** kind, hidden properties, trace, stack text or 0 */
  ERROR: 10,
  /** milliseconds, or null when invalid */
  DATE: 11,
  /** …key, value */
  MAP: 12,
  /** …values */
  SET: 13,
  /** target or null, position, mode, owner or null */
  ITERATOR: 14,
  /** flags (1 handled, 2 durable, 4 raced: all its reactions are members of decided combinators), …reactions */
  PENDING: 15,
  /** flags, value */
  FULFILLED: 16,
  /** flags, reason */
  REJECTED: 17,
  /** kind, remaining, result, …values */
  COMBINATOR: 18,
  /** `Context`, or with a 1 its `tags` */
  CONTEXT: 19,
  /** the promise of the main body */
  MAIN: 20,
} as const;

export const ReactionTag = {
  /** function, instruction pointer, promise, …cells, …live slots, …operand stack */
  AWAIT: 0,
  /** onFulfilled, onRejected, result */
  THEN: 1,
  /** follower */
  FOLLOW: 2,
  /** combinator, index */
  ELEMENT: 3,
} as const;

/** Anything that JSON.parse returns. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
