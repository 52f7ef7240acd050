// Writes flow values as JSON text like `JSON.stringify`: an explicit stack, so that depth costs no host stack and toJSON and a replacer can be flow code.
import { call, type Machine, PAUSE, type Steps } from '../vm/native.js';
import { ArrayObject, HeapObject, isCallable, type Value } from '../vm/values.js';
import { Pieces } from './pieces.js';

/** One object or array that is being written. */
interface Level {
  holder: HeapObject;
  isArray: boolean;
  /** Names of the members; none for an array, which is walked by index. */
  keys: string[];
  length: number;
  next: number;
  isEmpty: boolean;
}

/** Fuel of one member: its parts are strings of their own until they are joined. */
const MEMBER_WORK = 6;

export interface JsonOptions {
  /** A function that may replace every value. */
  replacer?: Value;
  /** The only names to write, in this order. */
  names?: string[];
  indent: string;
}

/** The JSON text, or undefined for what JSON leaves out (undefined, functions). */
export function* writeJson(vm: Machine, value: Value, options: JsonOptions): Steps<string | undefined> {
  return yield* new JsonWriter(vm, options).document(value);
}

class JsonWriter {
  private readonly pieces: Pieces;
  private readonly levels: Level[] = [];
  private readonly opened = new Set<HeapObject>();
  constructor(
    private readonly vm: Machine,
    private readonly options: JsonOptions,
  ) {
    this.pieces = new Pieces(vm);
  }

  *document(value: Value): Steps<string | undefined> {
    const { vm, levels } = this;
    if (!this.write(yield* this.prepared('', value))) return undefined;
    while (levels.length > 0) {
      const level = levels[levels.length - 1];
      if (vm.isDue) yield PAUSE;
      if (level.next === level.length) {
        this.close(level);
        continue;
      }
      vm.charge(MEMBER_WORK);
      const { holder, isArray } = level;
      const at = level.next++;
      const key = isArray ? '' : level.keys[at];
      let member = isArray ? (holder as ArrayObject).elements[at] : vm.getProperty(holder, key);
      if (member instanceof HeapObject || this.options.replacer !== undefined)
        member = yield* this.prepared(isArray ? String(at) : key, member);
      const isLeftOut = member === undefined || isCallable(member);
      if (isLeftOut && !isArray) continue;
      this.add(level.isEmpty ? this.line() : `,${this.line()}`);
      level.isEmpty = false;
      if (!isArray) this.add(`${quoted(vm, key)}:${this.options.indent === '' ? '' : ' '}`);
      if (isLeftOut) this.add('null');
      else this.write(member);
    }
    return this.pieces.text();
  }

  /** What toJSON and the replacer return for a value. */
  private *prepared(key: string, value: Value): Steps<Value> {
    let result = value;
    if (result instanceof HeapObject) {
      const toJson = this.vm.getProperty(result, 'toJSON');
      if (isCallable(toJson)) result = yield { fn: toJson, args: [key], receiver: result };
    }
    const { replacer } = this.options;
    return replacer === undefined ? result : yield call(replacer, key, result);
  }

  /** Writes a primitive, or opens an object or array; returns whether there was anything to write. */
  private write(value: Value): boolean {
    if (typeof value === 'string') this.add(quoted(this.vm, value));
    else if (typeof value === 'number') this.add(Number.isFinite(value) ? String(value) : 'null');
    else if (value === null || typeof value === 'boolean') this.add(String(value));
    else if (value === undefined || isCallable(value)) return false;
    else this.open(value);
    return true;
  }

  private open(holder: HeapObject): void {
    if (this.opened.has(holder)) {
      throw this.vm.error('TypeError', 'JSON.stringify() cannot write an object that contains itself');
    }
    this.opened.add(holder);
    const isArray = holder instanceof ArrayObject;
    const keys = isArray ? [] : (this.options.names ?? this.vm.ownKeys(holder));
    const length = isArray ? holder.elements.length : keys.length;
    this.add(isArray ? '[' : '{');
    this.levels.push({ holder, isArray, keys, length, next: 0, isEmpty: true });
  }

  private close({ holder, isArray, isEmpty }: Level): void {
    this.levels.pop();
    this.opened.delete(holder);
    if (!isEmpty) this.add(this.line());
    this.add(isArray ? ']' : '}');
  }

  private line(): string {
    const { indent } = this.options;
    return indent === '' ? '' : `\n${indent.repeat(this.levels.length)}`;
  }

  private add(part: string): void {
    if (part === '') return;
    this.vm.chargeString(part.length);
    this.pieces.add(part);
  }
}

function quoted(vm: Machine, text: string): string {
  // At worst every unit is written as \uXXXX.
  vm.charge(text.length >> 4);
  return JSON.stringify(text);
}
