// Turns a caller's value into the JSON text that is stored, and names the place of whatever cannot be stored.

import { InvalidArgumentError } from './errors.js';

/** How much may cross. */
export interface PayloadLimits {
  payloadBytes: number;
  payloadDepth: number;
}

/**
 * The JSON text of a value, as `JSON.stringify` would write it; `undefined` stays undefined.
 * What JSON would silently change (NaN, Map, functions, cycles) is refused with its path.
 */
export function toJsonText(value: unknown, path: string, limits: PayloadLimits): string | undefined {
  if (value === undefined) return undefined;
  const text = write(value, path, limits, [], '');
  if (text === undefined) throw refused(path, 'is a function or symbol, which JSON cannot hold');
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.payloadBytes) {
    throw new InvalidArgumentError(
      'RHYTHM_PAYLOAD_TOO_LARGE',
      path,
      `${path} is ${bytes} bytes as JSON; the limit is ${limits.payloadBytes} (limits.payloadBytes). Store the data elsewhere and pass a reference to it.`,
    );
  }
  return text;
}

function write(given: unknown, path: string, limits: PayloadLimits, above: object[], key: string): string | undefined {
  const value = hasToJson(given) ? given.toJSON(key) : given;
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value);
    case 'boolean':
      return String(value);
    case 'number':
      if (!Number.isFinite(value)) throw refused(path, `is ${value}, which JSON cannot hold`);
      return JSON.stringify(value);
    case 'bigint':
      throw refused(path, 'is a BigInt, which JSON cannot hold; pass it as text');
    case 'undefined':
      return undefined;
    case 'function':
    case 'symbol':
      throw refused(path, `is a ${typeof value}, which JSON cannot hold`);
  }
  if (value === null) return 'null';
  const object = value as object;
  if (above.includes(object)) throw refused(path, 'refers back to an object that contains it (a cycle)');
  if (above.length >= limits.payloadDepth) {
    throw new InvalidArgumentError(
      'RHYTHM_PAYLOAD_TOO_DEEP',
      path,
      `${path.slice(0, 120)} is nested deeper than ${limits.payloadDepth} levels (limits.payloadDepth). Flatten the data.`,
    );
  }
  const here = [...above, object];
  if (Array.isArray(object)) {
    return `[${object.map((item, index) => write(item, `${path}[${index}]`, limits, here, String(index)) ?? 'null').join(',')}]`;
  }
  const kind = unsupportedKind(object);
  if (kind) throw refused(path, `is a ${kind}, whose content JSON would lose`);
  const parts: string[] = [];
  for (const [name, item] of Object.entries(object)) {
    const text = write(item, `${path}.${name}`, limits, here, name);
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

function hasToJson(value: unknown): value is { toJSON(key: string): unknown } {
  return typeof value === 'object' && value !== null && typeof (value as { toJSON?: unknown }).toJSON === 'function';
}

function unsupportedKind(value: object): string | undefined {
  if (value instanceof Map) return 'Map';
  if (value instanceof Set) return 'Set';
  if (value instanceof Promise) return 'Promise (is an await missing?)';
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `${value.constructor.name} (encode it, e.g. as base64)`;
  if (value instanceof RegExp) return 'RegExp';
  return undefined;
}

function refused(path: string, why: string): InvalidArgumentError {
  return new InvalidArgumentError('RHYTHM_PAYLOAD_INVALID', path, `${path} ${why}.`);
}
