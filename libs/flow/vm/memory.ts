// What values cost in memory: bytes that V8 allocates for them, measured with Node 24 (`npm run bench:calibrate` compares).

/** An object of the VM without properties. */
export const OBJECT_BYTES = 48;
/** `{}`: its properties are a host object without a prototype, which V8 keeps as a hash table. */
export const PLAIN_BYTES = 208;
/** The first property of an object of another class makes that host object. */
export const PROPERTIES_BYTES = PLAIN_BYTES - OBJECT_BYTES;
/** A property in that table, which is at most four times as large as it must be. A name made at run time is charged as a string. */
export const PROPERTY_BYTES = 64;
/** An integer as a key that does not follow the one below it: see `addProperty`. */
export const SPARSE_KEY_BYTES = 256;
/** An empty array. */
export const ARRAY_BYTES = 112;
export const ELEMENT_BYTES = 8;
/** V8 makes room for seventeen elements at the first push. */
export const FIRST_ELEMENT_BYTES = 128;
/** A Map or Set with one entry; the room for more is part of their entries. */
export const COLLECTION_BYTES = 800;
/** One entry of a Map or Set. Measured: 80 bytes with an integer as key, 144 with another number; objects and strings are counted separately. */
export const ENTRY_BYTES = 112;
export const DATE_BYTES = 64;
export const ITERATOR_BYTES = 104;
export const PROMISE_BYTES = 128;
export const REACTION_BYTES = 104;
/** A frame that waits, without its registers. */
export const FRAME_BYTES = 128;
export const CELL_BYTES = 32;
export const FUNCTION_BYTES = 80;
/** The array of captured variables, if there are any. */
export const CAPTURES_BYTES = 48;
/** An error with its hidden properties, without its trace. */
export const ERROR_BYTES = 440;
/** One number of a trace. */
export const TRACE_BYTES = 8;
/** The name of an element, made while keys are listed. */
export const KEY_BYTES = 32;
