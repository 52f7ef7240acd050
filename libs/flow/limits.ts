// The limits of a program and of a run: all are configurable, and the flow can catch none of them.

export interface FlowLimits {
  /** Characters of source text. */
  sourceLength: number;
  /** Depth of nested brackets, blocks and operators in the source. */
  nestingDepth: number;
  /** Instructions (and the work of built-ins, charged as such) per turn. */
  fuelPerTurn: number;
  /** Fuel after which `turn` returns `yielded`; about a millisecond of work. */
  fuelPerSlice: number;
  /** Bytes of heap a run may hold, as the VM counts them. */
  heapBytes: number;
  /** Calls that are nested: functions, and built-ins that call back. */
  callDepth: number;
  /** Durable calls that are pending at one time. */
  pendingEffects: number;
  /** Characters of snapshot text: above `snapshotWarnBytes` the caller is warned, above this the run fails. */
  snapshotBytes: number;
  snapshotWarnBytes: number;
  /** Characters of one JSON text that enters or leaves a run (task input, output). */
  payloadBytes: number;
  /** Log lines per turn; more are dropped with one line that says so. */
  logLines: number;
}

export const DEFAULT_LIMITS: FlowLimits = {
  sourceLength: 1_000_000,
  nestingDepth: 256,
  fuelPerTurn: 50_000_000,
  fuelPerSlice: 50_000,
  heapBytes: 64 * 1024 * 1024,
  callDepth: 1_000,
  pendingEffects: 20_000,
  snapshotBytes: 8 * 1024 * 1024,
  snapshotWarnBytes: 64 * 1024,
  payloadBytes: 1024 * 1024,
  logLines: 1_000,
};
