// The ends of steps in place: their run moves with them at once, or they get rows and are written like any other task.

import { isReadable, type TaskCommit } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { nextTick } from '../runtime.js';
import type { HeldItem } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import type { FusedStep } from './fused-step.js';
import type { RunHere } from './run-here.js';
import type { StepRows } from './step-rows.js';
import { isStep, type StepItem, type StepsInPlace } from './steps-in-place.js';
import type { TurnOutcome } from './turn-outcome.js';
import type { TurnWriter, WrittenTurn } from './turn-writer.js';

/** The end of a step in place. */
export interface StepEnd {
  item: StepItem;
  task: TaskCommit;
  settled: Settled;
}

/**
 * What became of it. `hasRow`: the step has a row now, and its end is still to be written. `toRun`: children of the run that are to be
 * run at once, each with a reserved slot.
 */
type Settled = (hasRow: boolean, toRun: readonly HeldItem[]) => void;

export class StepEnds {
  constructor(
    private readonly parts: WorkerParts,
    private readonly slots: Slots,
    private readonly fusedStep: FusedStep,
    private readonly turnWriter: TurnWriter,
    private readonly steps: StepsInPlace,
    private readonly rows: StepRows,
  ) {}

  /** Whether the run may consume the end at once: a result that people can query as JSON. If so, the step's slot is to be reserved until it is settled. */
  static isPlain({ status, output }: TaskCommit): boolean {
    return status === 'completed' && isReadable(output);
  }

  /** Settles the end of a step. */
  settle(item: StepItem, task: TaskCommit, settled: Settled): void {
    const run = this.steps.runOf(item);
    // Steps that end while their run is being written move it together afterwards.
    if (run.ends.push({ item, task, settled }) === 1) void this.settleAll(run);
  }

  private async settleAll(run: RunHere<StepEnd>): Promise<void> {
    const wait = run.lock();
    if (wait) await wait;
    try {
      // Steps that end in the same moment move their run once.
      if (run.steps > 1) await nextTick(this.parts.runtime);
      const { ends } = run;
      run.ends = [];
      const movable = ends.every(isMovable) ? ends : ends.filter(isMovable);
      const moved = this.move(movable);
      const turn = moved && (await moved);
      let toRun = turn?.toRun ?? NONE;
      for (const end of ends) {
        if (!movable.includes(end) && StepEnds.isPlain(end.task)) this.slots.release('reserved');
        if (turn?.written && movable.includes(end)) {
          // The first of them runs the children of all.
          end.settled(false, toRun);
          toRun = NONE;
        } else void this.promote(end);
      }
    } finally {
      run.unlock();
    }
  }

  // Undefined when the run cannot move here now.
  private move(ends: readonly StepEnd[]): Promise<WrittenTurn | undefined> | undefined {
    const outcome = ends.length > 0 ? this.fusedStep.runInPlace(ends) : undefined;
    return outcome instanceof Promise ? outcome.then((last) => this.write(ends, last)) : this.write(ends, outcome);
  }

  private write(ends: readonly StepEnd[], outcome: TurnOutcome | undefined): Promise<WrittenTurn> | undefined {
    // The turn that is written gives their slots to the next steps, or releases them.
    if (outcome) return this.turnWriter.write(NONE, outcome);
    this.slots.release('reserved', ends.length);
    return undefined;
  }

  private async promote({ item, settled }: StepEnd): Promise<void> {
    settled(await this.rows.promote(item), NONE);
  }
}

// One that has got a row meanwhile is written like any other task.
function isMovable({ item, task }: StepEnd): boolean {
  return isStep(item) && StepEnds.isPlain(task);
}

const NONE: readonly HeldItem[] = [];
