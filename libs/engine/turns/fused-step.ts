// Fused step: a task has ended here, and the VM of its parent is in memory, so the parent's turn is run before anything is written.
// The result, the turn and the next children are one commit, fenced on both executions. If only the parent's fence is lost, the
// result and a wake are written.

import type { ParentCall, StoredEvent, TaskCommit } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { DatabaseClock } from '../work/database-clock.js';
import type { HeldItem } from '../work/held-work.js';
import { IN_MEMORY } from './turn-events.js';
import type { TurnOutcome } from './turn-outcome.js';
import type { TurnRunner } from './turn-runner.js';
import type { CachedRun, VmCache } from './vm-cache.js';

// With fewer steps kept a turn may drop the very step that it is fused with.
const LEAST_STEPS = 4;
// Each stored signal is compared with the known ones; with more of them it is cheaper to read the database.
const MOST_KNOWN_SIGNALS = 32;
const NO_SIGNALS: readonly number[] = [];

export class FusedStep {
  constructor(
    private readonly parts: WorkerParts,
    private readonly clock: DatabaseClock,
    private readonly cache: VmCache,
    private readonly runner: TurnRunner,
  ) {}

  /** Runs the turn of the parent, if the parent can move with this end here. Its commit depends on a result that is not written yet. */
  run(item: HeldItem, task: TaskCommit): Promise<TurnOutcome | undefined> | undefined {
    const { parent } = task;
    const run = parent && this.parentInMemory(task, parent);
    return run && this.turn(item, task, parent, run);
  }

  private parentInMemory({ status, control }: TaskCommit, parent: ParentCall): CachedRun | undefined {
    if (control || (status !== 'completed' && status !== 'failed') || this.parts.options.maxSteps < LEAST_STEPS) return undefined;
    const run = this.cache.take(parent.id);
    // A group wakes its run when it can move, not for every member.
    if (!run || (!run.grouped && run.signals.length <= MOST_KNOWN_SIGNALS)) return run;
    this.cache.put(run, run.item.fence);
    return undefined;
  }

  private async turn(item: HeldItem, task: TaskCommit, { id, call }: ParentCall, parent: CachedRun): Promise<TurnOutcome | undefined> {
    const { runtime, events } = this.parts;
    const run = parent.item;
    run.claimedAtMonotonic = runtime.monotonicNow();
    run.claimedAt = this.clock.now();
    const event: StoredEvent = {
      executionId: id,
      seq: IN_MEMORY,
      kind: task.status === 'completed' ? 'completed' : 'failed',
      call,
      name: null,
      payload: (task.status === 'completed' ? task.output : task.error) ?? null,
    };
    try {
      const outcome = await this.runner.run(run, { cached: parent }, parent.signals.length > 0 ? [...parent.signals, event] : [event]);
      const { commit } = outcome;
      // Events that are stored in the database come before a result that is not written yet: the commit is refused if there are any.
      commit.unread = {
        takesSignals: parent.takesSignals,
        signals: parent.signals.length === 0 ? NO_SIGNALS : parent.signals.map(({ seq }) => seq),
      };
      // A failing turn needs its events stored, and a step that its own turn drops must be written first: both take two commits.
      if (commit.status === 'failed' || commit.oldSteps.includes(item.id)) return undefined;
      outcome.run = run;
      return outcome;
    } catch (error) {
      events.emit({ type: 'problem', where: `turn of ${id}`, error });
      return undefined;
    }
  }
}
