// The host exceptions that the VM uses internally; none of them leaves it.

import type { RunErrorCode } from '../diagnostics/codes.js';
import type { PrimitiveHint } from './native.js';
import type { HeapObject, Value } from './values.js';

/** Carries a value that the flow threw (or a built-in threw for it). */
export class FlowThrow extends Error {
  constructor(readonly value: Value) {
    super();
  }
}
// The host's stack is useless here and costs more than the throw itself.
Object.defineProperty(FlowThrow, 'stackTraceLimit', { value: 0 });

/** A limit was reached. No flow can catch it and no `finally` runs. */
export class LimitReached extends Error {
  constructor(
    readonly code: RunErrorCode,
    message: string,
  ) {
    super(message);
  }
}

/** A plain native got an object whose `toString` or `valueOf` is written in Flow: run that, then call the native again (or take its steps). */
export class NeedsCoercion extends Error {
  constructor(
    readonly object: HeapObject,
    readonly hint: PrimitiveHint,
  ) {
    super();
  }
}
