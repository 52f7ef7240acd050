// Reads a snapshot back into a machine. Everything is checked: damage is a FlowSnapshotError, never a crash.

import { isErrorKind } from '../error-kinds.js';
import { FlowSnapshotError } from '../errors.js';
import { Frame, newRegisters, type Register } from '../vm/frame.js';
import { ELEMENT_BYTES } from '../vm/memory.js';
import { AwaitReaction, Combinator, ElementReaction, FollowReaction, type Reaction, ThenReaction } from '../vm/promise.js';
import { keepSparse } from '../vm/properties.js';
import { registry } from '../vm/registry.js';
import {
  ArrayObject,
  BoundNative,
  Cell,
  DateObject,
  ErrorObject,
  FULFILLED,
  FunctionObject,
  HeapObject,
  IteratorObject,
  isCallable,
  MapObject,
  newProperties,
  PlainObject,
  PromiseObject,
  type Properties,
  REJECTED,
  SetObject,
  UNINITIALIZED,
  type Value,
} from '../vm/values.js';
import type { Vm } from '../vm/vm.js';
import { asArray, asChoice, asCount, asDateTime, asString, Damage, damaged } from './checked-json.js';
import { CALL_KINDS, COMBINATOR_KINDS, INLINE_DEPTH, ITERATOR_MODES, type Json, ReactionTag, SPECIAL_NUMBERS, Tag } from './format.js';
import { upgrade } from './upgrade.js';

/** Fills a fresh machine with the state that the text describes. */
export function readSnapshot(vm: Vm, text: string): void {
  try {
    new Reader(vm).read(upgrade(JSON.parse(text)));
  } catch (error) {
    if (error instanceof FlowSnapshotError) throw error;
    const reason = error instanceof Damage ? error.message : 'it does not have the form of a snapshot of this version';
    throw new FlowSnapshotError(`The snapshot cannot be restored: ${reason}.`, { cause: error });
  }
}

/** Built-ins are only ever added. */
function unknownBuiltIn(name: Json): never {
  throw new FlowSnapshotError(
    `The snapshot uses the built-in ${name}, which this release of the package does not have. Upgrade the package.`,
    {
      code: 'FLOW_NEWER_FORMAT',
    },
  );
}

type Restored = HeapObject | Cell | Combinator;

/** Deeper than the writer nests: a promise with its frame, properties and values takes a few levels of host recursion. */
const MAX_DEPTH = INLINE_DEPTH * 4;
/** In all arrays together, unless the heap has room for more: a hole takes as much as an element. */
const MAX_HOLES = 2 ** 24;
/** More than any run can make, and far from where numbers stop being exact. */
const MAX_CALLS = 2 ** 48;

class Reader {
  private readonly table: Restored[] = [];
  private depth = 0;
  private holes = 0;

  constructor(private readonly vm: Vm) {}

  read(top: Json): void {
    const [, fingerprint, nextId, pending, table, forgotten = []] = asArray(top, 'the snapshot');
    this.checkProgram(asString(fingerprint));
    const { calls } = this.vm;
    calls.nextId = asCount(nextId, 'the next call number');
    if (calls.nextId > MAX_CALLS) damaged('the next call number is out of range');
    const bodies = asArray(table, 'the table');
    for (const body of bodies) this.table.push(this.shell(body));
    bodies.forEach((body, at) => {
      this.fill(this.table[at], body);
    });
    for (const entry of asArray(pending, 'the pending calls')) this.pendingCall(asArray(entry, 'a pending call'));
    for (const entry of asArray(forgotten, 'the forgotten calls')) {
      const [id, name] = asArray(entry, 'a forgotten call');
      calls.forgotten.set(this.callId(id), asString(name));
    }
    if (calls.pending.size === 0) damaged('nothing is pending');
  }

  /** Instruction pointers and slots mean something only in the program that the snapshot was taken of. */
  private checkProgram(fingerprint: string): void {
    const { program } = this.vm;
    if (fingerprint === '' || fingerprint === program.fingerprint) return;
    throw new FlowSnapshotError(
      `The snapshot belongs to program ${fingerprint}, and this is program ${program.fingerprint} (${program.file}). Load the program that the run was started with.`,
      { code: 'FLOW_OTHER_PROGRAM' },
    );
  }

  private callId(json: Json): number {
    const id = asCount(json, 'a call number');
    const { calls } = this.vm;
    if (id < 1 || id >= calls.nextId || calls.pending.has(id) || calls.forgotten.has(id)) damaged(`call ${id} is out of range`);
    return id;
  }

  private pendingCall([number, kind, name, body, timeout, muted]: Json[]): void {
    const id = this.callId(number);
    const promise = this.promise(body);
    if (promise.state !== 0 || promise.call) damaged(`call ${id} is already settled`);
    const timeoutMs = timeout === undefined || timeout === null ? {} : { timeoutMs: asCount(timeout, 'a timeout') };
    promise.call = { id, kind: asChoice(CALL_KINDS, kind), name: asString(name), ...timeoutMs, ...(muted === 1 ? { muted: true } : {}) };
    this.vm.calls.pending.set(id, promise);
  }

  // Values ------------------------------------------------------------------------------------------------------------

  private register(json: Json): Register | Combinator {
    if (typeof json !== 'object' || json === null) return json;
    if (!Array.isArray(json)) return this.inline(json);
    if (json.length === 0) return undefined;
    switch (json[0]) {
      case Tag.REFERENCE:
        return this.table[asCount(json[1], 'a reference')] ?? damaged('a reference points to nothing');
      case Tag.NUMBER:
        return asChoice(SPECIAL_NUMBERS, json[1]);
      case Tag.UNINITIALIZED:
        return UNINITIALIZED;
      case Tag.NATIVE:
        return registry().byName.get(asString(json[1])) ?? unknownBuiltIn(json[1]);
      case Tag.CONTEXT:
        return json[1] === 1 ? this.vm.context.props.tags : this.vm.context;
      case Tag.MAIN:
        return this.vm.main;
      default:
        return this.inline(json);
    }
  }

  private inline(json: Json): Restored {
    if (++this.depth > MAX_DEPTH) damaged('it is nested too deeply');
    const object = this.shell(json);
    this.fill(object, json);
    this.depth--;
    return object;
  }

  private value(json: Json): Value {
    const value = this.register(json);
    if (typeof value === 'symbol' || value instanceof Cell || value instanceof Combinator) damaged('found a variable instead of a value');
    return value;
  }

  private object(json: Json): HeapObject {
    const value = this.value(json);
    return value instanceof HeapObject ? value : damaged('found a value instead of an object');
  }

  private promise(json: Json): PromiseObject {
    const value = this.value(json);
    return value instanceof PromiseObject ? value : damaged('found a value instead of a promise');
  }

  private cell(json: Json): Cell {
    const value = this.register(json);
    return value instanceof Cell ? value : damaged('found a value instead of a variable');
  }

  /** An object without its contents, so that those may refer to it. */
  private shell(json: Json): Restored {
    if (typeof json !== 'object' || json === null) damaged('the table holds a value without identity');
    if (!Array.isArray(json)) return new PlainObject(newProperties());
    switch (json[0]) {
      case Tag.ARRAY:
        return new ArrayObject([]);
      case Tag.CELL:
        return new Cell(undefined);
      case Tag.FUNCTION:
        return new FunctionObject(this.code(json[1]), [], json[2] === 0 ? null : asString(json[2]));
      case Tag.BOUND:
        return new BoundNative(registry().bound.get(asString(json[1])) ?? unknownBuiltIn(json[1]), []);
      case Tag.EXTRA:
        if (Array.isArray(json[3]) && json[3][0] === Tag.EXTRA) damaged('an object is wrapped twice');
        return this.shell(json[3]);
      case Tag.ERROR: {
        const kind = asString(json[1]);
        if (!isErrorKind(kind)) return damaged(`unknown error kind ${kind}`);
        return new ErrorObject(kind, newProperties(), this.trace(json[3]));
      }
      case Tag.DATE:
        return new DateObject(json[1] === null ? Number.NaN : asDateTime(json[1]));
      case Tag.MAP:
        return new MapObject();
      case Tag.SET:
        return new SetObject();
      case Tag.ITERATOR:
        return this.iteratorShell(json);
      case Tag.PENDING:
      case Tag.FULFILLED:
      case Tag.REJECTED:
        return new PromiseObject();
      case Tag.COMBINATOR:
        return new Combinator(asChoice(COMBINATOR_KINDS, json[1]), this.vm.main);
    }
    damaged(`unknown kind of object ${json[0]}`);
  }

  private iteratorShell(json: Json[]): IteratorObject {
    // The owner (of for…in) is set by `fill`, when every object exists.
    const iterator = new IteratorObject(null, asChoice(ITERATOR_MODES, json[3]));
    iterator.position = asCount(json[2], 'the position of an iterator');
    return iterator;
  }

  private fill(object: Restored, json: Json): void {
    if (!Array.isArray(json)) return this.properties((object as PlainObject).props, json);
    const rest = json.slice(1);
    if (json[0] === Tag.EXTRA) {
      const target = object as HeapObject;
      this.fill(object, json[3]);
      if (json[1] === 1) target.freeze();
      if (json[2] !== 0) {
        target.props ??= newProperties();
        this.properties(target.props, json[2]);
      }
    } else if (object instanceof ArrayObject) this.elements(object, rest);
    else if (object instanceof Cell) {
      const value = this.register(rest[0]);
      if (value instanceof Cell || value instanceof Combinator) damaged('a variable holds a variable');
      object.value = value as Value;
    } else if (object instanceof FunctionObject) {
      const cells = rest.slice(2).map((each) => this.cell(each));
      if (cells.length !== object.code.captures.length) damaged('a function has the wrong number of variables');
      for (const cell of cells) (object.cells as Cell[]).push(cell);
    } else if (object instanceof BoundNative) this.bound(object, rest.slice(1));
    else if (object instanceof ErrorObject) {
      this.properties(object.hidden, rest[1]);
      if (rest[3] !== 0) object.stack = asString(rest[3]);
    } else if (object instanceof MapObject) {
      if (rest.length % 2 !== 0) damaged('a Map has a key without a value');
      for (let at = 0; at < rest.length; at += 2) object.put(this.value(rest[at]), this.value(rest[at + 1]));
    } else if (object instanceof SetObject) for (const each of rest) object.put(this.value(each), undefined);
    else if (object instanceof IteratorObject) this.iterator(object, rest);
    else if (object instanceof PromiseObject) this.promiseBody(object, json);
    else if (object instanceof Combinator) {
      object.remaining = asCount(rest[1], 'the members of a combinator');
      (object as { result: PromiseObject }).result = this.promise(rest[2]);
      object.values = rest.slice(3).map((each) => this.value(each));
    }
  }

  /** The resolving functions write into what they are bound to. */
  private bound({ definition, bound }: BoundNative, bodies: Json[]): void {
    for (const body of bodies) bound.push(this.value(body));
    const isResolver = definition.name === 'Promise.resolveFunction' || definition.name === 'Promise.rejectFunction';
    const fits = isResolver
      ? bound.length === 2 && bound[0] instanceof PromiseObject && bound[1] instanceof ArrayObject
      : bound.length === 1 && (!definition.name.startsWith('Promise.finally') || isCallable(bound[0]));
    if (!fits) damaged(`a ${definition.name} is bound to the wrong values`);
  }

  private properties(props: Properties, json: Json): void {
    if (typeof json !== 'object' || json === null || Array.isArray(json)) damaged('properties are not an object');
    for (const key of Object.keys(json)) {
      keepSparse(props, key);
      props[key] = this.value(json[key]);
    }
  }

  private elements({ elements }: ArrayObject, bodies: Json[]): void {
    for (const body of bodies) {
      if (Array.isArray(body) && body[0] === Tag.HOLES) {
        const holes = asCount(body[1], 'holes');
        this.holes += holes;
        if (this.holes > Math.max(MAX_HOLES, this.vm.limits.heapBytes / ELEMENT_BYTES)) damaged('an array has too many holes');
        elements.length += holes;
      } else elements.push(this.value(body));
    }
  }

  private iterator(iterator: IteratorObject, [target, , , owner]: Json[]): void {
    const value = this.value(target);
    const isTarget =
      value === null ||
      typeof value === 'string' ||
      value instanceof ArrayObject ||
      value instanceof MapObject ||
      value instanceof SetObject;
    if (!isTarget) damaged('an iterator has a target without elements');
    iterator.target = value;
    if (owner !== undefined) (iterator as { owner: HeapObject | null }).owner = this.object(owner);
  }

  // Promises and frames -----------------------------------------------------------------------------------------------

  private promiseBody(promise: PromiseObject, [tag, flags, ...rest]: Json[]): void {
    const bits = asCount(flags, 'the flags of a promise');
    promise.handled = (bits & 1) !== 0;
    promise.durable = (bits & 2) !== 0;
    if (tag === Tag.PENDING) {
      promise.raced = (bits & 4) !== 0;
      if (rest.length > 0) promise.reactions = rest.map((each) => this.reaction(asArray(each, 'a reaction')));
      return;
    }
    promise.state = tag === Tag.FULFILLED ? FULFILLED : REJECTED;
    promise.value = this.value(rest[0]);
    if (tag === Tag.REJECTED && !promise.handled) this.vm.unhandled.add(promise);
  }

  private reaction([tag, ...rest]: Json[]): Reaction {
    switch (tag) {
      case ReactionTag.AWAIT:
        return new AwaitReaction(this.frame(rest));
      case ReactionTag.THEN: {
        const [onFulfilled, onRejected] = [this.handler(rest[0]), this.handler(rest[1])];
        return new ThenReaction(onFulfilled, onRejected, this.promise(rest[2]));
      }
      case ReactionTag.FOLLOW:
        return new FollowReaction(this.promise(rest[0]));
      case ReactionTag.ELEMENT: {
        const combinator = this.register(rest[0]);
        if (!(combinator instanceof Combinator)) damaged('found a value instead of a combinator');
        return new ElementReaction(combinator, asCount(rest[1], 'the index of a member'));
      }
    }
    damaged(`unknown kind of reaction ${tag}`);
  }

  private handler(json: Json): Value {
    const value = this.value(json);
    return value === undefined || isCallable(value) ? value : damaged('found a value instead of a handler');
  }

  private code(json: Json) {
    return this.vm.program.functions[asCount(json, 'a function')] ?? damaged(`the program has no function ${json}`);
  }

  /** The instruction pointer must be just after an await of the program, and the registers must be those live there. */
  private frame([index, pointer, promise, ...registers]: Json[]): Frame {
    if (++this.depth > MAX_DEPTH) damaged('it is nested too deeply');
    const code = this.code(index);
    const live = code.live.find((each) => each.at === pointer);
    if (!code.isAsync || !live) damaged(`function ${index} cannot wait at instruction ${pointer}`);
    const captured = code.captures.length;
    if (registers.length !== captured + live.slots.length + live.depth)
      damaged(`a frame of function ${index} has the wrong number of registers`);
    const cells = registers.slice(0, captured).map((each) => this.cell(each));
    const slots = newRegisters(code);
    live.slots.forEach((slot, at) => {
      slots[slot] = this.slot(registers[captured + at]);
    });
    for (let at = 0; at < live.depth; at++) slots[code.slots + at] = this.value(registers[captured + live.slots.length + at]);
    const frame = new Frame(new FunctionObject(code, cells), slots, this.promise(promise));
    frame.ip = live.at;
    frame.sp = code.slots + live.depth;
    this.depth--;
    return frame;
  }

  private slot(json: Json): Register {
    const value = this.register(json);
    return value instanceof Combinator ? damaged('found a combinator instead of a variable') : value;
  }

  private trace(json: Json): number[] {
    const trace = asArray(json, 'a trace').map((each) => asCount(each, 'a trace'));
    if (trace.length % 2 !== 0) damaged('a trace is cut off');
    for (let at = 0; at < trace.length; at += 2) this.code(trace[at]);
    return trace;
  }
}
