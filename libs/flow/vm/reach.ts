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
  while (work.length > 0) {
    const node = work.pop() as object;
    if (node instanceof Frame) {
      visitor.frame?.(node);
      pushFrame(node, push);
      continue;
    }
    visitor.object?.(node as HeapObject);
    if (node instanceof Cell) push(node.value);
    else if (node instanceof Combinator) {
      push(node.result);
      node.values.forEach(push);
    } else children(node as HeapObject, push, visitor);
  }
  return seen;
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

function children(object: HeapObject, push: (node: Node) => void, visitor: Visitor): void {
  // Built-ins are shared by all runs and refer to nothing of a run.
  if (object instanceof NativeFunction || object instanceof NamespaceObject) return;
  if (object.props) for (const key in object.props) push(object.props[key]);
  if (object instanceof ArrayObject) object.elements.forEach(push);
  else if (object instanceof FunctionObject) {
    push(object.givenName);
    object.cells.forEach(push);
  } else if (object instanceof BoundNative) object.bound.forEach(push);
  else if (object instanceof ErrorObject) {
    push(object.stack);
    for (const key in object.hidden) push(object.hidden[key]);
  } else if (object instanceof CollectionObject) {
    for (const key of object.keys) push(key);
    for (const value of object.values) push(value);
  } else if (object instanceof IteratorObject) {
    push(object.target);
    push(object.owner);
  } else if (object instanceof PromiseObject) {
    push(object.value);
    if (visitor.promise) visitor.promise(object, push);
    else if (object.reactions !== null) for (const reaction of object.reactions) pushReaction(reaction, push);
  }
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
