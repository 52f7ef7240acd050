// Walks everything that is reachable from some roots, through live slots only.

import { Frame, type Register } from './frame.js';
import { AwaitReaction, Combinator, ElementReaction, FollowReaction, type Reaction, ThenReaction } from './promise.js';
import {
  ArrayObject,
  BoundNative,
  Cell,
  CollectionObject,
  ErrorObject,
  FunctionObject,
  HeapObject,
  IteratorObject,
  NamespaceObject,
  NativeFunction,
  PromiseObject,
} from './values.js';

export interface Visitor {
  string?(text: string): void;
  /** The first time an object is reached. */
  object?(object: HeapObject | Cell | Combinator): void;
  /** Each own property of such an object, in order. */
  property?(key: string, at: number): void;
  /** Every other time. */
  again?(object: object): void;
  frame?(frame: Frame): void;
  /** Called instead of walking the reactions of a promise. */
  promise?(promise: PromiseObject, push: (node: Node) => void): void;
}

/** What can be reached: values, cells, and the promises' own parts. */
export type Node = Register | Frame | Combinator;

/** Visits each object once, without host recursion: a flow may build chains of any length. Returns `seen`. */
export function walk(roots: Iterable<Node>, visitor: Visitor = {}, seen = new Set<object>()): Set<object> {
  walkSome(roots, visitor, seen, Number.POSITIVE_INFINITY);
  return seen;
}

/** The same walk, given up (false) after so many objects, elements and properties. */
export function walkSome(roots: Iterable<Node>, visitor: Visitor, seen: Set<object>, most: number): boolean {
  const work: object[] = [];
  const push = (node: Node) => {
    if (typeof node === 'string') visitor.string?.(node);
    else if (typeof node === 'object' && node !== null) {
      if (seen.has(node)) visitor.again?.(node);
      else {
        seen.add(node);
        work.push(node);
      }
    }
  };
  for (const root of roots) push(root);
  for (let left = most; work.length > 0; ) {
    const node = work.pop() as object;
    left -= 1 + visit(node, push, visitor);
    const list = node instanceof ArrayObject ? node.elements : node instanceof CollectionObject ? node.keys : null;
    if (list !== null) left -= list.length;
    if (left < 0) return false;
    if (list === null) continue;
    list.forEach(push as (node: unknown) => void);
    if (node instanceof CollectionObject) node.values.forEach(push);
  }
  return true;
}

/** Measured: remembering an object takes eight units of fuel, looking at a primitive a quarter. */
const OBJECT_WORK = 8;
const CHILDREN_PER_UNIT = 4;
const PROPERTY_WORK = 4;
/** Elements that are looked at in one go. */
const SPAN = 4_096;

/** What is left of a long array. */
class Span {
  constructor(
    readonly values: readonly unknown[],
    readonly from: number,
  ) {}
}

/** The same walk in steps, for graphs that take longer than a slice. Nothing of the run may move in between. */
export class Walk {
  private readonly work: object[] = [];
  private done = 0;
  private readonly push = (node: Node): void => {
    if (typeof node === 'string') this.visitor.string?.(node);
    else if (typeof node === 'object' && node !== null) {
      if (this.seen.has(node)) this.visitor.again?.(node);
      else {
        this.seen.add(node);
        this.work.push(node);
      }
    }
  };

  constructor(
    roots: Iterable<Node>,
    private readonly visitor: Visitor = {},
    private readonly seen = new Set<object>(),
  ) {
    this.add(roots);
  }

  add(roots: Iterable<Node>): void {
    for (const root of roots) this.push(root);
  }

  get isDone(): boolean {
    return this.work.length === 0;
  }

  /** Goes on for about this much fuel; returns how much it took. */
  advance(fuel: number): number {
    const { work } = this;
    for (this.done = 0; work.length > 0 && this.done < fuel; ) {
      const node = work.pop() as object;
      if (node instanceof Span) {
        this.list(node.values, node.from);
        continue;
      }
      this.done += OBJECT_WORK + PROPERTY_WORK * visit(node, this.push, this.visitor);
      if (node instanceof ArrayObject) this.list(node.elements, 0);
      else if (node instanceof CollectionObject) {
        this.list(node.keys, 0);
        this.list(node.values, 0);
      }
    }
    return Math.ceil(this.done);
  }

  private list(values: readonly unknown[], from: number): void {
    const end = Math.min(values.length, from + SPAN);
    this.done += (end - from) / CHILDREN_PER_UNIT;
    if (end < values.length) this.work.push(new Span(values, end));
    for (let at = from; at < end; at++) this.push(values[at] as Node);
  }
}

/** Pushes what an object refers to, all but elements and entries; returns the number of its properties or parts. */
function visit(node: object, push: (node: Node) => void, visitor: Visitor): number {
  if (node instanceof Frame) {
    visitor.frame?.(node);
    pushFrame(node, push);
    return 0;
  }
  visitor.object?.(node as HeapObject);
  if (node instanceof Cell) push(node.value);
  else if (node instanceof Combinator) {
    push(node.result);
    node.values.forEach(push);
    return node.values.length;
  } else return children(node as HeapObject, push, visitor);
  return 0;
}

function pushFrame(frame: Frame, push: (node: Node) => void): void {
  pushVariables(frame, push);
  push(frame.promise);
}

function pushVariables(frame: Frame, push: (node: Node) => void): void {
  for (const cell of frame.cells) push(cell);
  for (const register of liveRegisters(frame)) push(register);
}

/** The live slots and the operand stack of a frame that waits; every register of one that runs. */
export function liveRegisters(frame: Frame): Register[] {
  const { code, registers, sp } = frame;
  const live = code.live.find((each) => each.at === frame.ip);
  if (!live || sp !== code.slots + live.depth) return registers.slice(0, sp);
  const found: Register[] = [];
  for (const slot of live.slots) found.push(registers[slot]);
  for (let at = code.slots; at < sp; at++) found.push(registers[at]);
  return found;
}

function children(object: HeapObject, push: (node: Node) => void, visitor: Visitor): number {
  // Built-ins are shared by all runs and refer to nothing of a run.
  if (object instanceof NativeFunction || object instanceof NamespaceObject) return 0;
  let properties = 0;
  if (object.props !== null) {
    for (const key in object.props) {
      visitor.property?.(key, properties++);
      push(object.props[key]);
    }
  }
  if (object instanceof FunctionObject) {
    push(object.givenName);
    object.cells.forEach(push);
  } else if (object instanceof BoundNative) object.bound.forEach(push);
  else if (object instanceof ErrorObject) {
    push(object.stack);
    for (const key in object.hidden) push(object.hidden[key]);
  } else if (object instanceof IteratorObject) {
    push(object.target);
    push(object.owner);
  } else if (object instanceof PromiseObject) {
    push(object.value);
    if (visitor.promise) visitor.promise(object, push);
    else if (object.reactions !== null) for (const reaction of object.reactions) pushReaction(reaction, push);
  }
  return properties;
}

/** What a reaction keeps alive; a member of a decided combinator keeps nothing. */
export function pushReaction(reaction: Reaction, push: (node: Node) => void): void {
  if (reaction instanceof AwaitReaction) push(reaction.frame);
  else if (reaction instanceof FollowReaction) push(reaction.follower);
  else if (reaction instanceof ThenReaction) {
    push(reaction.onFulfilled);
    push(reaction.onRejected);
    push(reaction.result);
  } else if (reaction instanceof ElementReaction && !reaction.combinator.done) push(reaction.combinator);
}

/** What the code that a reaction runs can touch; the promise that it settles is not among it. */
export function pushHoldings(reaction: Reaction, push: (node: Node) => void): void {
  if (reaction instanceof AwaitReaction) pushVariables(reaction.frame, push);
  else if (reaction instanceof ThenReaction) {
    push(reaction.onFulfilled);
    push(reaction.onRejected);
  } else if (reaction instanceof ElementReaction && !reaction.combinator.done) reaction.combinator.values.forEach(push);
}
