// The ends of steps in place: their run moves with them at once, or they get rows and are written like any other task.

import { isReadable, type TaskCommit } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { nextTick } from '../runtime.js';
import type { HeldItem } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import type { FusedStep } from './fused-step.js';
import type { RunLocks } from './run-locks.js';
import type { StepRows } from './step-rows.js';
import { isStep, type StepItem, type StepsInPlace } from './steps-in-place.js';
import type { TurnWriter } from './turn-writer.js';

/** The end of a step in place. */
export interface StepEnd {
  item: StepItem;
  task: TaskCommit;
}

/** What became of it. */
export interface SettledStep {
  /** It has a row now, and its end is still to be written. */
  hasRow: boolean;
  /** Children of the run that are to be run at once, each with a reserved slot. */
  toRun: readonly HeldItem[];
}

interface Waiting {
  item: HeldItem;
  task: TaskCommit;
  resolve(settled: SettledStep): void;
}

export class StepEnds {
  /** By run. Steps that end while their run is being written move it together afterwards. */
  private readonly waiting = new Map<string, Waiting[]>();

  constructor(
    private readonly parts: WorkerParts,
    private readonly slots: Slots,
    private readonly fusedStep: FusedStep,
    private readonly turnWriter: TurnWriter,
    private readonly steps: StepsInPlace,
    private readonly rows: StepRows,
    private readonly locks: RunLocks,
  ) {}

  /** Whether the run may consume the end at once: a result that people can query as JSON. If so, the step's slot is to be reserved until it is settled. */
  static isPlain({ status, output }: TaskCommit): boolean {
    return status === 'completed' && isReadable(output);
  }

  /** Settles the end of a step. */
  settle(item: StepItem, task: TaskCommit): Promise<SettledStep> {
    const runId = item.parentId as string;
    return new Promise((resolve) => {
      const others = this.waiting.get(runId);
      const waiting = { item, task, resolve };
      if (others) return void others.push(waiting);
      this.waiting.set(runId, [waiting]);
      void this.locks.run(runId, () => this.settleAll(runId));
    });
  }

  private async settleAll(runId: string): Promise<void> {
    // Steps that end in the same moment move their run once.
    if (this.steps.countOf(runId) > 1) await nextTick(this.parts.runtime);
    const ends = this.waiting.get(runId) ?? [];
    this.waiting.delete(runId);
    const plain = ends.filter((end): end is Waiting & StepEnd => isStep(end.item) && StepEnds.isPlain(end.task));
    let toRun = plain.length > 0 ? await this.move(plain) : undefined;
    const moved: ReadonlySet<Waiting> = new Set(toRun ? plain : []);
    const promotions: Promise<void>[] = [];
    for (const end of ends) {
      if (!moved.has(end)) promotions.push(this.promote(end));
      else {
        // The first of them runs the children of all.
        end.resolve({ hasRow: false, toRun: toRun ?? NONE });
        toRun = undefined;
      }
    }
    await Promise.all(promotions);
  }

  private async promote({ item, resolve }: Waiting): Promise<void> {
    resolve({ hasRow: await this.rows.promoteLocked(item), toRun: NONE });
  }

  // Returns the children to be run at once, or undefined when the run did not move.
  private async move(ends: readonly StepEnd[]): Promise<readonly HeldItem[] | undefined> {
    const outcome = await this.fusedStep.runInPlace(ends);
    if (!outcome) {
      this.slots.release('reserved', ends.length);
      return undefined;
    }
    const { written, toRun } = await this.turnWriter.write([], outcome);
    return written ? toRun : undefined;
  }
}

const NONE: readonly HeldItem[] = [];
