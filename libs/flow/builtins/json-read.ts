// Reads JSON text into flow values, charging as it goes: no host tree is ever built.
import type { Machine } from '../vm/native.js';
import { LONGEST_HASHED } from '../vm/properties.js';
import { newProperties, type Properties, type Value } from '../vm/values.js';
import { cut } from './cut.js';

/** Deep enough for any real document, and shallow enough for the host's stack. */
const DEEPEST = 2_000;
const PROPERTY_BYTES = 40;

export function readJson(vm: Machine, text: string): Value {
  return new JsonReader(vm, text).document();
}

class JsonReader {
  private at = 0;
  private depth = 0;
  constructor(
    private readonly vm: Machine,
    private readonly text: string,
  ) {}

  document(): Value {
    const value = this.value();
    this.space();
    if (this.at < this.text.length) throw this.unexpected();
    return value;
  }

  private value(): Value {
    this.space();
    this.vm.charge(1);
    switch (this.text[this.at]) {
      case '{':
        return this.nested(() => this.object());
      case '[':
        return this.nested(() => this.array());
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

  private nested(read: () => Value): Value {
    if (++this.depth > DEEPEST) throw this.vm.error('RangeError', `JSON.parse() was given text that is nested deeper than ${DEEPEST}`);
    this.at++;
    const value = read();
    this.depth--;
    return value;
  }

  private object(): Value {
    const props: Properties = newProperties();
    for (let first = true; !this.ends('}', first); first = false) {
      this.space();
      if (this.text[this.at] !== '"') throw this.unexpected();
      const key = this.string();
      this.space();
      if (this.text[this.at] !== ':') throw this.unexpected();
      this.at++;
      this.vm.chargeBytes(PROPERTY_BYTES);
      if (key.length > LONGEST_HASHED) this.vm.chargeKey();
      props[key] = this.value();
    }
    return this.vm.newObject(props);
  }

  private array(): Value {
    const elements: Value[] = [];
    for (let first = true; !this.ends(']', first); first = false) {
      this.vm.chargeElements(1);
      elements.push(this.value());
    }
    return this.vm.newArray(elements);
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
