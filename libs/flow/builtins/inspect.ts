// Formats any value for a log: one line, like Node's inspector in its compact form.
import type { Machine } from '../vm/native.js';
import {
  ArrayObject,
  CollectionObject,
  DateObject,
  ErrorObject,
  FunctionObject,
  HeapObject,
  IteratorObject,
  isCallable,
  MapObject,
  NamespaceObject,
  PENDING,
  PromiseObject,
  REJECTED,
  TOMBSTONE,
  type Value,
} from '../vm/values.js';

/** Fuel of a value, which becomes a string of its own. */
const VALUE_WORK = 10;
const DEEPEST = 4;
const MOST_MEMBERS = 100;
const LONGEST_STRING = 10_000;
/** Beyond any line of a log: shared values are written wherever they are referred to, and could fill the memory. */
const LONGEST = 100_000;
const PLAIN_KEY = /^[a-zA-Z_][a-zA-Z_0-9]*$/;

export function inspect(vm: Machine, value: Value, deepest = DEEPEST): string {
  return new Inspector(vm, deepest).text(value, 0);
}

class Inspector {
  private readonly open: HeapObject[] = [];
  /** Objects that turned out to contain themselves, in the order they were found. */
  private readonly circular: HeapObject[] = [];
  /** A lower bound for the characters written. */
  private length = 0;
  constructor(
    private readonly vm: Machine,
    private readonly deepest: number,
  ) {}

  text(value: Value, depth: number): string {
    this.vm.charge(VALUE_WORK);
    if (typeof value === 'string') return this.string(value);
    this.length += 2;
    if (!(value instanceof HeapObject)) return Object.is(value, -0) ? '-0' : String(value);
    if (this.length > LONGEST) return this.summary(value);
    if (this.open.includes(value)) return this.reference(value);
    if (depth > this.deepest) return this.summary(value);
    this.open.push(value);
    const text = this.object(value, depth);
    this.open.pop();
    const found = this.circular.indexOf(value);
    return found < 0 ? text : `<ref *${found + 1}> ${text}`;
  }

  private string(value: string): string {
    const shown = value.slice(0, LONGEST_STRING);
    this.vm.chargeString(shown.length);
    this.length += shown.length;
    const quote = !shown.includes("'") ? "'" : !shown.includes('"') ? '"' : !shown.includes('`') && !shown.includes('${') ? '`' : "'";
    const left = value.length - shown.length;
    return quoted(shown, quote) + (left > 0 ? `... ${left} more character${left > 1 ? 's' : ''}` : '');
  }

  private reference(value: HeapObject): string {
    if (!this.circular.includes(value)) this.circular.push(value);
    return `[Circular *${this.circular.indexOf(value) + 1}]`;
  }

  private summary(value: HeapObject): string {
    if (value instanceof ArrayObject) return '[Array]';
    if (value instanceof MapObject) return '[Map]';
    if (value instanceof CollectionObject) return '[Set]';
    if (value instanceof DateObject || value instanceof ErrorObject || isCallable(value)) return this.object(value, this.deepest);
    return value instanceof PromiseObject ? '[Promise]' : '[Object]';
  }

  private object(value: HeapObject, depth: number): string {
    const members = this.members(value, depth);
    if (value instanceof ArrayObject) return wrap('', '[', [...this.elements(value, depth), ...members], ']');
    if (value instanceof MapObject) return wrap(`Map(${value.size})`, '{', [...this.entries(value, depth), ...members], '}');
    if (value instanceof CollectionObject) return wrap(`Set(${value.size})`, '{', [...this.entries(value, depth), ...members], '}');
    if (value instanceof PromiseObject) return wrap('Promise', '{', [this.promise(value, depth), ...members], '}');
    if (value instanceof IteratorObject) return wrap('Object [Iterator]', '{', members, '}');
    const base = this.base(value);
    if (base !== undefined) return members.length === 0 ? base : `{ ${base} ${members.join(', ')} }`;
    return value instanceof NamespaceObject ? `Object [${value.name}] {...}` : wrap('', '{', members, '}');
  }

  /** The short form of an object that is more than its own properties. */
  private base(value: HeapObject): string | undefined {
    if (value instanceof DateObject) return Number.isNaN(value.time) ? 'Invalid Date' : new Date(value.time).toISOString();
    if (value instanceof ErrorObject) return `[${this.errorText(value)}]`;
    if (!isCallable(value)) return undefined;
    const name = String(this.vm.getProperty(value, 'name'));
    const kind = value instanceof FunctionObject && value.code.isAsync ? 'AsyncFunction' : 'Function';
    return name === '' ? `[${kind} (anonymous)]` : `[${kind}: ${name}]`;
  }

  private errorText(error: ErrorObject): string {
    const [name, message] = ['name', 'message'].map((key) => this.vm.getProperty(error, key));
    const text = [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ');
    this.vm.chargeString(text.length);
    return text;
  }

  private members(value: HeapObject, depth: number): string[] {
    const keys = Object.keys(value.props ?? {}).filter((key) => !(value instanceof ErrorObject && key === 'name'));
    this.vm.charge(6 * keys.length);
    const parts: string[] = [];
    for (const key of keys) {
      if (this.length > LONGEST) {
        parts.push(more(keys.length - parts.length));
        break;
      }
      this.length += key.length;
      parts.push(`${PLAIN_KEY.test(key) ? key : quoted(key, "'")}: ${this.text(value.props?.[key], depth + 1)}`);
    }
    return parts;
  }

  private elements({ elements }: ArrayObject, depth: number): string[] {
    const parts: string[] = [];
    let i = 0;
    for (; i < elements.length && parts.length < MOST_MEMBERS; i++) {
      if (i in elements) {
        parts.push(this.text(elements[i], depth + 1));
        continue;
      }
      const first = i;
      while (i + 1 < elements.length && !(i + 1 in elements)) {
        this.vm.charge(1);
        i++;
      }
      const count = i - first + 1;
      parts.push(`<${count} empty item${count > 1 ? 's' : ''}>`);
    }
    if (i < elements.length) parts.push(more(elements.length - i));
    return parts;
  }

  private entries(collection: CollectionObject, depth: number): string[] {
    const parts: string[] = [];
    for (let at = 0; at < collection.keys.length && parts.length < MOST_MEMBERS; at++) {
      this.vm.charge(1);
      const key = collection.keys[at];
      if (key === TOMBSTONE) continue;
      const text = this.text(key, depth + 1);
      parts.push(collection instanceof MapObject ? `${text} => ${this.text(collection.values[at], depth + 1)}` : text);
    }
    if (collection.size > parts.length) parts.push(more(collection.size - parts.length));
    return parts;
  }

  private promise(promise: PromiseObject, depth: number): string {
    if (promise.state === PENDING) return '<pending>';
    const text = this.text(promise.value, depth + 1);
    return promise.state === REJECTED ? `<rejected> ${text}` : text;
  }
}

function more(count: number): string {
  return `... ${count} more item${count > 1 ? 's' : ''}`;
}

function wrap(prefix: string, left: string, parts: string[], right: string): string {
  const start = prefix === '' ? left : `${prefix} ${left}`;
  return parts.length === 0 ? `${start}${right}` : `${start} ${parts.join(', ')} ${right}`;
}

const ESCAPES: Record<string, string> = { '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };

function quoted(text: string, quote: string): string {
  const escaped = text.replace(/[\p{Cc}\p{Cs}\\]/gu, escapeUnit);
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

function escapeUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  if (code > 0xff) return `\\u${code.toString(16).toUpperCase()}`;
  return ESCAPES[unit] ?? `\\x${code.toString(16).toUpperCase().padStart(2, '0')}`;
}
