// Runs claimed tasks and hands on what they came to; a parent whose VM is at hand moves in the same commit.

import { markStarted, type ParentCall, type StoredEvent, type TaskCommit } from '../../libs/store/index.js';
import type { RegisteredTask } from '../tasks/task.registry.js';
import type { Announcer } from './announcer.js';
import type { FinishedWork } from './committer.js';
import type { HeldItem } from './held-work.js';
import { OUT_OF_REACH_MS, type OutOfReachError } from './out-of-reach.js';
import type { PoisonGuard } from './poison-guard.js';
import { failedAtOnce, TaskRunner } from './task-runner.js';
import { transactionally } from './transactional-task.js';
import type { TurnLane } from './turn-lane.js';
import { IN_MEMORY, type TurnOutcome } from './turn-runner.js';
import type { CachedRun } from './vm-cache.js';
import type { Workplace } from './workplace.js';

// With fewer steps kept a turn may drop the very step that it is fused with.
const FUSED_STEPS = 4;
const NO_SIGNALS: readonly number[] = [];
// Each stored signal is compared with those that are known; with more of them a look at the database is cheaper.
const MOST_KNOWN_SIGNALS = 32;
// More than run here at one time; older ones may start over.
const CUT_OFF_KNOWN = 10_000;

/** A turn that was run on the strength of a child's result that is not written yet. */
type FusedTurn = TurnOutcome & { run: HeldItem };

export class TaskLane {
  private readonly runner: TaskRunner;
  /** How often in a row each task lost the database while it ran here. */
  private readonly cutOff = new Map<string, number>();

  constructor(
    private readonly place: Workplace,
    private readonly turns: TurnLane,
    private readonly guard: PoisonGuard,
    private readonly announcer: Announcer,
  ) {
    const { store, options, logger, random } = place.parts;
    this.runner = new TaskRunner({ db: store.db, options, logger, random });
  }

  /** Runs an attempt of a task that this worker has, and writes what it came to. */
  async perform(item: HeldItem, task: RegisteredTask): Promise<void> {
    const { place } = this;
    const { parts } = place;
    place.running++;
    if (item.options?.startTimeoutMs !== undefined && item.attempts === 0 && !(await this.begin(item))) {
      place.running--;
      this.guard.settle(item);
      return place.loops.claims.roomFreed();
    }
    if (parts.events.heard) parts.events.emit({ type: 'started', executionId: item.id, name: item.name, attempt: item.attempts + 1 });
    const committed = { done: false };
    const outcome = await this.runner.run(item, task, (_, call) =>
      task.policy.transactional ? transactionally(parts, place.id, item, async (manager) => call(manager), committed) : call(),
    );
    place.running--;
    place.loops.claims.roomFreed();
    this.guard.settle(item);
    if (item.dropped || !place.held.has(item)) return;
    const outOfReach = 'commit' in outcome && outcome.outOfReach;
    if (outOfReach && this.mayBeAway(item, outOfReach)) return void (await place.release([item], OUT_OF_REACH_MS));
    this.cutOff.delete(item.id);
    if (committed.done) {
      this.announcer.taskEnded(item, 'completed');
      return place.finish(item);
    }
    if ('commit' in outcome) return this.submit(item, outcome.commit);
    if (outcome.stopped === 'lost' || outcome.stopped === 'cancelled') await place.release([item]);
  }

  // An outage of the database is not the fault of a transactional task: nothing took effect, and no attempt is counted. But
  // a task may also be the reason why its connection is lost, again and again; then its attempts count like any others.
  private mayBeAway(item: HeldItem, error: OutOfReachError): boolean {
    const { place, cutOff } = this;
    place.trouble(`task ${item.name} ${item.id}`, error);
    if (!error.began) return true;
    const times = (cutOff.get(item.id) ?? 0) + 1;
    if (times > place.parts.options.maxCrashes) return false;
    cutOff.set(item.id, times);
    for (const id of cutOff.keys()) if (cutOff.size > CUT_OFF_KNOWN) cutOff.delete(id);
    return true;
  }

  // A task that may only wait so long for its start says that it starts, before it does: from then on the timer cannot end it
  // as one that never ran. Only such tasks pay for this write, and only for the first attempt.
  private async begin(item: HeldItem): Promise<boolean> {
    const { place } = this;
    try {
      if (await markStarted(place.parts.store.db, item)) return true;
      await place.finish(item);
    } catch (error) {
      place.trouble('mark as started', error);
      await place.release([item]);
    }
    return false;
  }

  /** Writes the end of an attempt, together with the turn of its parent if that can be run here. */
  async submit(item: HeldItem, task: TaskCommit): Promise<void> {
    const { committer } = this.place.loops;
    const refused = (error: unknown): FinishedWork => ({
      items: [item],
      task: failedAtOnce(item, error),
      refused: () => this.place.unwritable(item),
    });
    const parent = this.parentAtHand(task);
    const fused = parent && (await this.fuse(item, task, task.parent as ParentCall, parent));
    if (!fused) return void (await committer.submit({ items: [item], task, refused }));
    const work = { items: [item], task, turn: fused.commit, run: fused.run, refused: () => ({ items: [item], task, refused }) };
    await this.turns.written(fused, await committer.submit(work));
  }

  // The parent's VM, when the parent can move with this end.
  private parentAtHand({ parent, status, control }: TaskCommit): CachedRun | undefined {
    const { cache, parts } = this.place;
    if (!parent || control || (status !== 'completed' && status !== 'failed') || parts.options.maxSteps < FUSED_STEPS) return undefined;
    const run = cache.take(parent.id);
    // A group wakes its run when it can move, not for every member.
    if (!run || (!run.grouped && run.signals.length <= MOST_KNOWN_SIGNALS)) return run;
    cache.put(run, run.item.fence);
    return undefined;
  }

  // Fused step: the parent's VM is at hand, so its turn is run before anything is written, and the result, the turn and the
  // next child are one commit, fenced on both. If only the parent's fence is lost, the result and a wake are written.
  private async fuse(item: HeldItem, task: TaskCommit, { id, call }: ParentCall, parent: CachedRun): Promise<FusedTurn | undefined> {
    const { place } = this;
    const run = parent.item;
    run.claimedAtMonotonic = performance.now();
    run.claimedAt = place.now();
    const event: StoredEvent = {
      executionId: id,
      seq: IN_MEMORY,
      kind: task.status === 'completed' ? 'completed' : 'failed',
      call,
      name: null,
      payload: (task.status === 'completed' ? task.output : task.error) ?? null,
    };
    try {
      const outcome = await this.turns.runner.run(
        run,
        { cached: parent },
        parent.signals.length > 0 ? [...parent.signals, event] : [event],
      );
      // Events that wait in the database come before a result that is not written yet: the commit insists that there are none.
      outcome.commit.unlooked = {
        takesSignals: parent.takesSignals,
        signals: parent.signals.length === 0 ? NO_SIGNALS : parent.signals.map(({ seq }) => seq),
      };
      // A failing turn needs its events stored, and a step that its own turn drops must be written first: the long way.
      return outcome.commit.status === 'failed' || outcome.commit.forget.includes(item.id)
        ? undefined
        : { commit: outcome.commit, keep: outcome.keep, stale: outcome.stale, run };
    } catch (error) {
      place.trouble(`turn of ${id}`, error);
      return undefined;
    }
  }
}
