// An array parameter in PostgreSQL's binary form: no string is escaped and unescaped, and there is no garbage to collect.

type Item = string | number | boolean | null | undefined;

/** The item types that the engine's statements use, with their type OIDs in PostgreSQL. */
const TYPES = { boolean: 16, bigint: 20, smallint: 21, integer: 23, text: 25, float8: 701 } as const;
export type ArrayType = keyof typeof TYPES;

const BYTES: Record<Exclude<ArrayType, 'text'>, number> = { boolean: 1, bigint: 8, smallint: 2, integer: 4, float8: 8 };
const HEAD = 20;
const LENGTH = 4;
const TWO_32 = 2 ** 32;

/** The array as PostgreSQL receives it. `undefined` and `null` are NULL. */
export function arrayBytes(type: ArrayType, items: readonly Item[]): Buffer {
  return type === 'text' ? textBytes(items as readonly (string | null | undefined)[]) : fixedBytes(type, items);
}

/** Reads the items of an array parameter back as strings, for a driver that takes no bytes. */
export function itemsOf(bytes: Buffer): (string | null)[] {
  const type = bytes.readInt32BE(8);
  const items: (string | null)[] = [];
  for (let at = HEAD; at < bytes.length; ) {
    const length = bytes.readInt32BE(at);
    at += LENGTH;
    items.push(length < 0 ? null : itemText(type, bytes, at, length));
    at += Math.max(0, length);
  }
  return items;
}

function itemText(type: number, bytes: Buffer, at: number, length: number): string {
  if (type === TYPES.text) return bytes.toString('utf8', at, at + length);
  if (type === TYPES.float8) return String(bytes.readDoubleBE(at));
  if (type === TYPES.bigint) return String(bytes.readBigInt64BE(at));
  return String(type === TYPES.boolean ? bytes[at] === 1 : bytes.readIntBE(at, length));
}

function textBytes(items: readonly (string | null | undefined)[]): Buffer {
  let size = HEAD;
  for (const item of items) size += item == null ? LENGTH : LENGTH + Buffer.byteLength(item);
  const bytes = start('text', items, size);
  let at = HEAD;
  for (const item of items) {
    if (item == null) at = bytes.writeInt32BE(-1, at);
    else {
      // The length comes before the string in the buffer, but is known only after it was written.
      const written = bytes.write(item, at + LENGTH);
      bytes.writeInt32BE(written, at);
      at += LENGTH + written;
    }
  }
  return bytes;
}

function fixedBytes(type: Exclude<ArrayType, 'text'>, items: readonly Item[]): Buffer {
  const length = BYTES[type];
  const bytes = start(type, items, HEAD + items.length * (LENGTH + length));
  let at = HEAD;
  for (const item of items) {
    if (item == null) {
      at = bytes.writeInt32BE(-1, at);
      continue;
    }
    at = bytes.writeInt32BE(length, at);
    const value = Number(item);
    if (type !== 'float8' && !Number.isInteger(value))
      throw new RangeError(`The value ${value} is out of range: ${type} holds whole numbers.`);
    if (type === 'integer') bytes.writeInt32BE(value, at);
    else if (type === 'smallint') bytes.writeInt16BE(value, at);
    else if (type === 'float8') bytes.writeDoubleBE(value, at);
    else if (type === 'boolean') bytes[at] = value;
    else {
      bytes.writeInt32BE(Math.floor(value / TWO_32), at);
      bytes.writeUInt32BE(value >>> 0, at + 4);
    }
    at += length;
  }
  return at === bytes.length ? bytes : bytes.subarray(0, at);
}

// One dimension, lower bound 1, and the flag that says that items may be NULL.
function start(type: ArrayType, items: readonly Item[], size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeInt32BE(1, 0);
  bytes.writeInt32BE(1, 4);
  bytes.writeInt32BE(TYPES[type], 8);
  bytes.writeInt32BE(items.length, 12);
  bytes.writeInt32BE(1, 16);
  return bytes;
}
