// Measures the reachable heap of a run, in bytes as the VM counts them.

import { Frame, NativeFrame, SettleFrame } from './frame.js';
import {
  ARRAY_BYTES,
  CAPTURES_BYTES,
  CELL_BYTES,
  COLLECTION_BYTES,
  ELEMENT_BYTES,
  ENTRY_BYTES,
  ERROR_BYTES,
  FIRST_ELEMENT_BYTES,
  FRAME_BYTES,
  OBJECT_BYTES,
  PROMISE_BYTES,
  PROPERTIES_BYTES,
  PROPERTY_BYTES,
  REACTION_BYTES,
  SPARSE_KEY_BYTES,
  TRACE_BYTES,
} from './memory.js';
import { Combinator, ReactionJob } from './promise.js';
import { arrayIndex } from './properties.js';
import { type Node, pushReaction, type Visitor, Walk } from './reach.js';
import { ArrayObject, Cell, CollectionObject, ErrorObject, FunctionObject, type HeapObject, PromiseObject } from './values.js';
import type { Vm } from './vm.js';

/** Shorter names are mostly the program's own. */
const LONG_KEY = 64;

/** A measurement that may take several slices. */
export interface Measurement {
  readonly walk: Walk;
  /** What it has found so far: all of it when the walk is done. */
  bytes: number;
}

/** An upper bound: a string is counted wherever it is referred to, because the host does not show which ones are shared. */
export function beginMeasurement(vm: Vm): Measurement {
  let bytes = vm.effectBytes;
  const roots: Node[] = [vm.main, vm.context, ...vm.calls.promises(), ...vm.unhandled];
  for (const frame of vm.frames) {
    if (frame instanceof Frame) {
      for (let at = 0; at < frame.sp; at++) roots.push(frame.registers[at]);
      roots.push(frame.fn, frame.promise);
      bytes += frame.registers.length * 8;
    } else if (frame instanceof NativeFrame) {
      roots.push(frame.receiver, frame.sent);
      for (const list of [frame.args, ...frame.held]) {
        bytes += list.length * 8;
        for (const value of list) roots.push(value);
      }
    } else if (frame instanceof SettleFrame) roots.push(frame.promise);
  }
  for (const job of vm.pendingJobs) {
    bytes += 32;
    if (job instanceof ReactionJob) {
      roots.push(job.value);
      pushReaction(job.reaction, (node) => roots.push(node));
    } else roots.push(job.promise, job.thenable, job.then);
  }
  const visitor: Visitor = {
    string(text) {
      measurement.bytes += text.length;
    },
    object(object) {
      measurement.bytes += sizeOf(object);
    },
    property(key, at) {
      // Integers come first.
      if (at === 0 && arrayIndex(key) >= 0) measurement.bytes += SPARSE_KEY_BYTES;
      measurement.bytes += key.length > LONG_KEY ? PROPERTY_BYTES + key.length : PROPERTY_BYTES;
    },
    frame(frame) {
      measurement.bytes += FRAME_BYTES + frame.registers.length * 8;
    },
  };
  const measurement: Measurement = { bytes, walk: new Walk([], visitor) };
  measurement.walk.add(roots);
  return measurement;
}

function sizeOf(object: HeapObject | Cell | Combinator): number {
  if (object instanceof Cell) return CELL_BYTES;
  if (object instanceof Combinator) return 64 + object.values.length * ELEMENT_BYTES;
  let bytes = OBJECT_BYTES;
  if (object.props) bytes += PROPERTIES_BYTES;
  if (object instanceof ArrayObject)
    bytes +=
      ARRAY_BYTES - OBJECT_BYTES + Math.max(object.elements.length * ELEMENT_BYTES, object.elements.length > 0 ? FIRST_ELEMENT_BYTES : 0);
  else if (object instanceof CollectionObject) bytes += COLLECTION_BYTES + object.keys.length * ENTRY_BYTES;
  else if (object instanceof ErrorObject) bytes += ERROR_BYTES + object.trace.length * TRACE_BYTES;
  else if (object instanceof PromiseObject) bytes += PROMISE_BYTES + (object.reactions?.length ?? 0) * REACTION_BYTES;
  else if (object instanceof FunctionObject && object.cells.length > 0) bytes += CAPTURES_BYTES + object.cells.length * 8;
  return bytes;
}
