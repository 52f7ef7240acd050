// Creates the virtual machine of a run, before its first frame or its snapshot is in it.

import type { Program } from '../compile/program.js';
import { DEFAULT_LIMITS, type FlowLimits } from '../limits.js';
import type { FlowAllowList, FlowContext } from '../turn.js';
import { DurableCalls } from './durable-calls.js';
import { fromHost } from './payload.js';
import type { ArrayObject, PlainObject } from './values.js';
import { Vm } from './vm.js';

/** What a run needs besides its program, at its start and again at every restore. */
export interface RunOptions {
  readonly context: FlowContext;
  readonly limits?: Partial<FlowLimits>;
  readonly allow?: FlowAllowList;
  /** Durable calls are numbered after this one: those up to it were assigned by a turn that failed and is run again. */
  readonly numberAfter?: number;
}

export function newVm(program: Program, options: RunOptions): Vm {
  const context = fromHost({ ...options.context, tags: [...options.context.tags] }) as PlainObject;
  // It is passed in again at every restore: a change would be lost.
  context.freeze();
  (context.props.tags as ArrayObject).freeze();
  return new Vm(program, { ...DEFAULT_LIMITS, ...options.limits }, context, new DurableCalls(options.allow ?? {}));
}
