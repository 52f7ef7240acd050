// The host exceptions that the VM throws to itself; none of them leaves the door.

import type { PrimitiveHint } from './native.js';
import type { HeapObject, Value } from './values.js';

/** Carries a value that the flow threw (or a built-in threw for it). */
export class FlowThrow extends Error {
  constructor(readonly value: Value) {
    super();
  }
}
// The host's stack is of no use here and costs more than the throw itself.
Object.defineProperty(FlowThrow, 'stackTraceLimit', { value: 0 });

/** A bound was reached. No flow can catch it and no `finally` runs. */
export class LimitReached extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** What to do about each limit, with the setting that raises it where there is one. */
export const LIMIT_ADVICE = {
  FUEL: 'Do less between two waits, leave heavy work to a task, or raise limits.fuelPerTurn.',
  HEAP: 'Hold less at one time (a hole of an array takes as much as an element), leave large data to tasks, or raise limits.heapBytes.',
  CALL_DEPTH: 'Check that the recursion ends, or write it as a loop.',
  PENDING_EFFECTS: 'Await some calls before you start more, or raise limits.pendingEffects.',
  SNAPSHOT: 'Keep less in variables while the run waits, or raise limits.snapshotBytes.',
};

/** A plain native met an object whose `toString` or `valueOf` is written in Flow: run that, then call the native again (or take its steps). */
export class NeedsCoercion extends Error {
  constructor(
    readonly object: HeapObject,
    readonly hint: PrimitiveHint,
  ) {
    super();
  }
}
