// Measures the reachable heap of a run, in bytes as the VM counts them.

import { Frame, NativeFrame, SettleFrame } from './frame.js';
import { Combinator, ReactionJob } from './promise.js';
import { type Node, pushReaction, walk } from './reach.js';
import { ArrayObject, Cell, CollectionObject, ErrorObject, HeapObject, PromiseObject } from './values.js';
import type { Vm } from './vm.js';

/** Shorter names are mostly the program's own. */
const LONG_KEY = 64;

/** One entry of a Map or Set. Measured: 80 bytes with an integer as key, 144 with another number; objects and strings are counted separately. */
export const ENTRY_BYTES = 112;

/** An upper bound: a string is counted wherever it is referred to, because the host does not show which ones are shared. */
export function measureHeap(vm: Vm): number {
  let bytes = vm.effectBytes;
  const roots: Node[] = [vm.main, vm.context, ...vm.calls.promises(), ...vm.unhandled];
  for (const frame of vm.frames) {
    if (frame instanceof Frame) {
      for (let at = 0; at < frame.sp; at++) roots.push(frame.registers[at]);
      roots.push(frame.fn, frame.promise);
      bytes += frame.registers.length * 8;
    } else if (frame instanceof NativeFrame) {
      roots.push(frame.receiver);
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
  walk(roots, {
    string(text) {
      bytes += text.length;
    },
    object(object) {
      bytes += sizeOf(object);
    },
    frame(frame) {
      bytes += 48 + frame.registers.length * 8;
    },
  });
  return bytes;
}

function sizeOf(object: HeapObject | Cell | Combinator): number {
  if (object instanceof Cell) return 24;
  if (object instanceof Combinator) return 64 + object.values.length * 8;
  let bytes = 48;
  if (object.props) for (const key in object.props) bytes += key.length > LONG_KEY ? 40 + key.length : 40;
  if (object instanceof ArrayObject) bytes += object.elements.length * 8;
  else if (object instanceof CollectionObject) bytes += 144 + object.keys.length * ENTRY_BYTES;
  else if (object instanceof ErrorObject) bytes += 144;
  else if (object instanceof PromiseObject) bytes += 48 + (object.reactions?.length ?? 0) * 48;
  return bytes;
}
