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
  const text = new Writer(path, limits).write(value, '');
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

class Writer {
  private readonly ancestors: object[] = [];
  /** Keys and indices that lead to the value being written, for error messages. */
  private readonly keys: (string | number)[] = [];

  constructor(
    private readonly path: string,
    private readonly limits: PayloadLimits,
  ) {}

  write(given: unknown, key: string): string | undefined {
    const value = hasToJson(given) ? given.toJSON(key) : given;
    switch (typeof value) {
      case 'string':
        return JSON.stringify(value);
      case 'boolean':
        return String(value);
      case 'number':
        if (!Number.isFinite(value)) throw refused(this.place(), `is ${value}, which JSON cannot hold`);
        return JSON.stringify(value);
      case 'bigint':
        throw refused(this.place(), 'is a BigInt, which JSON cannot hold; pass it as a string');
      case 'undefined':
        return undefined;
      case 'function':
      case 'symbol':
        throw refused(this.place(), `is a ${typeof value}, which JSON cannot hold`);
    }
    if (value === null) return 'null';
    const object = value as object;
    if (this.ancestors.includes(object)) throw refused(this.place(), 'refers back to an object that contains it (a cycle)');
    if (this.ancestors.length >= this.limits.payloadDepth) throw this.tooDeep();
    this.ancestors.push(object);
    const text = Array.isArray(object) ? this.array(object) : this.object(object);
    this.ancestors.pop();
    return text;
  }

  private array(items: readonly unknown[]): string {
    const parts: string[] = [];
    for (let index = 0; index < items.length; index++) parts.push(this.inside(index, items[index]) ?? 'null');
    return `[${parts.join(',')}]`;
  }

  private object(object: object): string {
    const kind = unsupportedKind(object);
    if (kind) throw refused(this.place(), `is a ${kind}, whose content JSON would lose`);
    const parts: string[] = [];
    for (const [name, item] of Object.entries(object)) {
      const text = this.inside(name, item);
      if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`);
    }
    return `{${parts.join(',')}}`;
  }

  private inside(key: string | number, item: unknown): string | undefined {
    this.keys.push(key);
    const text = this.write(item, String(key));
    this.keys.pop();
    return text;
  }

  private place(): string {
    return this.path + this.keys.map((key) => (typeof key === 'number' ? `[${key}]` : `.${key}`)).join('');
  }

  private tooDeep(): InvalidArgumentError {
    const place = this.place();
    return new InvalidArgumentError(
      'RHYTHM_PAYLOAD_TOO_DEEP',
      place,
      `${place.slice(0, 120)} is nested deeper than ${this.limits.payloadDepth} levels (limits.payloadDepth). Flatten the data.`,
    );
  }
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
