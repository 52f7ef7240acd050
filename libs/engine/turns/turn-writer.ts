// Writes turns; then the run stays in memory, and a snapshot outside the database that is no longer needed is removed.

import { discardSnapshots, MOST_WAITING_ROWS, type TaskCommit, type TurnCommit } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import type { CommitResult } from '../commit/finished-work.js';
import type { WorkerParts } from '../engine-options.js';
import type { HeldItem } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import type { StepRows } from './step-rows.js';
import type { StepsInPlace } from './steps-in-place.js';
import type { TurnOutcome } from './turn-outcome.js';
import type { VmCache } from './vm-cache.js';

/** What became of a turn, and the children to be run at once, each with a reserved slot. */
export interface WrittenTurn {
  written: boolean;
  toRun: readonly HeldItem[];
}

export class TurnWriter {
  constructor(
    private readonly parts: WorkerParts,
    private readonly cache: VmCache,
    private readonly committer: Committer,
    private readonly steps: StepsInPlace,
    private readonly stepRows: StepRows,
    private readonly slots: Slots,
  ) {}

  /**
   * Writes a turn, alone or fused with the end of a task. Returns the children that this worker runs at once; by then the run is in
   * memory, so that the end of such a child is a fused step.
   */
  async write(items: readonly HeldItem[], outcome: TurnOutcome, task?: TaskCommit): Promise<WrittenTurn> {
    const { commit, run, notes, snapshot, steps } = outcome;
    const chosen = this.steps.choose(outcome);
    this.letGo(outcome);
    const result = await this.committer.submit({ items, task, turn: commit, run, notes, snapshot, steps, chosen });
    const written = isWritten(result);
    // Only if the commit is certain; otherwise the stored snapshot is what counts.
    if (outcome.keep && written && result.certain) this.cache.put(outcome.keep, result.fence);
    this.removeUnneeded(outcome, result);
    if (chosen && !written) {
      this.slots.release('reserved', chosen.items.length);
      void this.stepRows.abandoned(commit, chosen, result.certain);
    }
    if (!written) return { written, toRun: result.claimedAtOnce };
    if (chosen) this.steps.started(commit.id, chosen);
    if (steps) for (const step of steps) this.stepRows.end(step);
    return { written, toRun: chosen ? [...chosen.items, ...result.claimedAtOnce] : result.claimedAtOnce };
  }

  // A run none of whose steps runs here in place: nobody knows when this worker sees it again.
  private letGo({ commit, keep }: TurnOutcome): void {
    if (!keep || keep.pending.some(({ worker }) => worker === this.parts.workerId)) return;
    commit.waiting = keep.flow.waitingPlaces(MOST_WAITING_ROWS);
    keep.hasWaiting = true;
  }

  private removeUnneeded({ commit, stale }: TurnOutcome, result: CommitResult): void {
    if (isWritten(result)) for (const reference of stale ?? NONE) void this.remove(commit, reference);
    const made = commit.state.action === 'store' ? commit.state.snapshotRef : undefined;
    if (!isWritten(result) && result.certain && made) void this.remove(commit, made);
  }

  // What the store cannot remove now is removed by retention, when it can.
  private async remove({ id, bucket }: TurnCommit, ref: string): Promise<void> {
    try {
      await this.parts.snapshots?.remove(ref);
    } catch (error) {
      this.problem(error);
      await discardSnapshots(this.parts.store.db, [{ id, bucket, ref }], REMOVE_AGAIN_MS).catch((failed) => this.problem(failed));
    }
  }

  private problem(error: unknown): void {
    this.parts.events.emit({ type: 'problem', where: 'snapshot store', error });
  }
}

function isWritten(result: CommitResult): boolean {
  return result.turn && !result.instead;
}

const NONE: readonly string[] = [];
const REMOVE_AGAIN_MS = 60_000;
