// Reads JSON text into flow values, charging as it goes: no host tree is ever built.
import { ELEMENT_BYTES, FIRST_ELEMENT_BYTES } from '../vm/memory.js';
import { type Machine, PAUSE, type Steps } from '../vm/native.js';
import { ArrayObject, PlainObject, type Value } from '../vm/values.js';
import { cut } from './cut.js';

/** Deep enough for any real document. */
const DEEPEST = 2_000;
const VALUE_WORK = 4;
/** Members are still to be read. */
const INCOMPLETE: unique symbol = Symbol('incomplete');

export function* readJson(vm: Machine, text: string): Steps<Value> {
  return yield* new JsonReader(vm, text).document();
}

/** An object or array whose members are being read. */
interface Open {
  readonly value: PlainObject | ArrayObject;
  /** Of the member that is read next. */
  key: string;
}

class JsonReader {
  private at = 0;
  private readonly open: Open[] = [];
  constructor(
    private readonly vm: Machine,
    private readonly text: string,
  ) {}

  *document(): Steps<Value> {
    const { vm, open } = this;
    for (;;) {
      if (vm.isDue) yield PAUSE;
      let value = this.next();
      // What is complete goes into what it is a member of, until something else is to be read.
      for (; value !== INCOMPLETE; value = this.added(value)) {
        if (open.length > 0) continue;
        this.space();
        if (this.at < this.text.length) throw this.unexpected();
        return value;
      }
    }
  }

  /** Reads a value, or the start of an object or array with members. */
  private next(): Value | typeof INCOMPLETE {
    this.space();
    this.vm.charge(VALUE_WORK);
    switch (this.text[this.at]) {
      case '{':
        return this.begin(this.vm.newObject(), '}');
      case '[':
        return this.begin(this.vm.newArray([]), ']');
      case '"':
        return this.string();
      case 't':
        return this.word('true', true);
      case 'f':
        return this.word('false', false);
      case 'n':
        return this.word('null', null);
      default:
        return this.number();
    }
  }

  private begin(value: PlainObject | ArrayObject, bracket: string): Value | typeof INCOMPLETE {
    if (this.open.length >= DEEPEST) throw this.vm.error('RangeError', `JSON.parse() was given text that is nested deeper than ${DEEPEST}`);
    this.at++;
    if (this.ends(bracket, true)) return value;
    if (this.open.length === 0) this.vm.hold([value]);
    this.open.push({ value, key: value instanceof PlainObject ? this.key() : '' });
    return INCOMPLETE;
  }

  /** Adds a member to the innermost object or array, which is returned when that was the last one. */
  private added(member: Value): Value | typeof INCOMPLETE {
    const { vm } = this;
    const innermost = this.open[this.open.length - 1];
    const { value } = innermost;
    if (value instanceof ArrayObject) {
      vm.chargeBytes(value.elements.length === 0 ? ELEMENT_BYTES + FIRST_ELEMENT_BYTES : ELEMENT_BYTES);
      value.elements.push(member);
    } else vm.defineProperty(value, innermost.key, member);
    if (!this.ends(value instanceof ArrayObject ? ']' : '}', false)) {
      if (value instanceof PlainObject) innermost.key = this.key();
      return INCOMPLETE;
    }
    this.open.pop();
    return value;
  }

  private key(): string {
    this.space();
    if (this.text[this.at] !== '"') throw this.unexpected();
    const key = this.string();
    this.space();
    if (this.text[this.at] !== ':') throw this.unexpected();
    this.at++;
    return key;
  }

  /** Steps over the closing bracket, or over the comma before the next member. */
  private ends(bracket: string, first: boolean): boolean {
    this.space();
    if (this.text[this.at] === bracket) {
      this.at++;
      return true;
    }
    if (first) return false;
    if (this.text[this.at] !== ',') throw this.unexpected();
    this.at++;
    this.space();
    if (this.text[this.at] === bracket) throw this.unexpected();
    return false;
  }

  private string(): string {
    const start = ++this.at;
    while (this.at < this.text.length) {
      const unit = this.text.charCodeAt(this.at);
      if (unit === 0x22) {
        this.vm.chargeString(this.at - start);
        return cut(this.text, start, this.at++);
      }
      if (unit === 0x5c) return this.escaped(start);
      if (unit < 0x20) throw this.unexpected();
      this.at++;
    }
    throw this.unexpected();
  }

  /** The rare string with escapes: find its end, then let the host read exactly that much. */
  private escaped(start: number): string {
    for (; this.at < this.text.length; this.at++) {
      const unit = this.text.charCodeAt(this.at);
      if (unit === 0x22) {
        this.vm.chargeString(this.at - start);
        return JSON.parse(this.text.slice(start - 1, ++this.at));
      }
      if (unit < 0x20) throw this.unexpected();
      if (unit === 0x5c) this.escape();
    }
    throw this.unexpected();
  }

  private escape(): void {
    this.at++;
    const kind = this.text[this.at];
    if (kind === 'u') {
      if (!/^[0-9a-fA-F]{4}$/.test(this.text.slice(this.at + 1, this.at + 5))) throw this.unexpected();
      this.at += 4;
    } else if (kind === undefined || !'"\\/bfnrt'.includes(kind)) throw this.unexpected();
  }

  private number(): number {
    const pattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    if (match === null) throw this.unexpected();
    this.at = pattern.lastIndex;
    return Number(match[0]);
  }

  private word<T extends Value>(word: string, value: T): T {
    if (!this.text.startsWith(word, this.at)) throw this.unexpected();
    this.at += word.length;
    return value;
  }

  private space(): void {
    for (;;) {
      const unit = this.text.charCodeAt(this.at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.at++;
    }
  }

  private unexpected(): Error {
    const found = this.text[this.at];
    const what = found === undefined ? 'unexpected end of the text' : `unexpected ${JSON.stringify(found)}`;
    return this.vm.error('SyntaxError', `JSON.parse() failed at position ${this.at}: ${what}`);
  }
}
