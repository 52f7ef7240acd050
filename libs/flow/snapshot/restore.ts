// Restores a run from its snapshot.

import type { Program } from '../compile/program.js';
import { FlowRun, newVm, type RunOptions } from '../vm/run.js';
import { readSnapshot } from './read.js';

/**
 * Continues a run where its snapshot was taken; throws FlowSnapshotError when the text is damaged, belongs to another program or
 * was written by a newer release of this package.
 */
export function restoreRun(program: Program, snapshot: string, options: RunOptions): FlowRun {
  const vm = newVm(program, options);
  vm.main.handled = true;
  readSnapshot(vm, snapshot);
  vm.calls.numberAfter(options.numberAfter);
  return new FlowRun(vm);
}
