// Looks at claimed runs: loads their state and events, runs their turns, and hands on what they came to.

import { isDatabaseError, type Link, loadRuns, type StoredEvent, turnCommit } from '../../libs/store/index.js';
import type { CommitResult } from './committer.js';
import { toErrorData } from './error-data.js';
import type { HeldItem } from './held-work.js';
import { OUT_OF_REACH_MS, OutOfReachError, SnapshotsOutOfReachError } from './out-of-reach.js';
import type { PoisonGuard } from './poison-guard.js';
import { cancelled, parentOf } from './task-runner.js';
import { type TurnOutcome, TurnRunner, type TurnState } from './turn-runner.js';
import type { Workplace } from './workplace.js';

// Runs whose state cannot be reached are looked at after 1 s, 2 s, 4 s … and then as often as this.
const STATE_LOOK_MS = 60_000;
// More than wait at one time; older ones may start over.
const UNREACHED_KNOWN = 10_000;

export class TurnLane {
  readonly runner: TurnRunner;
  /** How often in a row the state of each run could not be reached from here. */
  private readonly unreached = new Map<string, number>();

  constructor(
    private readonly place: Workplace,
    private readonly link: Link,
    private readonly guard: PoisonGuard,
    /** Runs a task that was looked at first. */
    private readonly perform: (item: HeldItem) => void,
  ) {
    const { programs, tasks, options, events, random, snapshots } = place.parts;
    this.runner = new TurnRunner({ programs, tasks, options, events, random, uuid: () => crypto.randomUUID(), snapshots });
  }

  /** Runs that have events, and tasks with an order in their inbox. */
  async look(items: HeldItem[]): Promise<void> {
    const { place } = this;
    const cached = new Map<string, TurnState>();
    for (const item of items) {
      const run = item.type === 'workflow' ? place.cache.take(item.id, item.fence) : undefined;
      // What the groups of a run have left is in the database: without it every turn would have to wake the run once more.
      if (run && !run.grouped) cached.set(item.id, { cached: run });
    }
    const contexts = items.filter((item) => item.type === 'workflow' && !cached.has(item.id));
    place.looking += items.length;
    // Tasks that are run after the look keep their room.
    const toRun = items.filter((item) => item.run).length;
    place.reserved += toRun;
    const settled = new Set(items);
    let failure: { error: unknown } | undefined;
    try {
      // The lists of the runs are read meanwhile, so that their turns find them at hand.
      const [{ runs, events }] = await Promise.all([loadRuns(this.link, contexts, items), this.readAllowLists(items)]);
      const states = new Map<string, TurnState>([...cached, ...runs.map((run) => [run.id, { loaded: run }] as const)]);
      for (const item of items) {
        const found = events.get(item.id) ?? [];
        if (item.type === 'workflow') await this.advance(item, states.get(item.id), found);
        else if (this.begin(item, found)) settled.delete(item);
      }
    } catch (error) {
      place.trouble('load', error);
      failure = { error };
      settled.clear();
    } finally {
      for (const item of settled) this.guard.settle(item);
      place.looking -= items.length;
      place.reserved -= toRun;
      place.loops.claims.roomFreed();
    }
    if (failure) await this.loadLater(items, failure.error);
  }

  // What the server does not give may be too much at once, or lie in one run: they are looked at by themselves, and one that
  // cannot be loaded alone waits a moment.
  private async loadLater(items: HeldItem[], error: unknown): Promise<void> {
    if (isDatabaseError(error) && items.length > 1) {
      for (const item of items) await this.look([item]);
      return;
    }
    for (const item of items) this.guard.settle(item);
    await this.place.release(items, isDatabaseError(error) ? OUT_OF_REACH_MS : 0);
  }

  /** After the commit of a turn: the run stays in memory only if the commit is certain; otherwise the stored snapshot is the truth. */
  async written(outcome: TurnOutcome, result: CommitResult): Promise<void> {
    const { cache, parts } = this.place;
    const written = result.turn && !result.refused;
    if (outcome.keep && written && result.certain) cache.put(outcome.keep, result.fence);
    const { state } = outcome.commit;
    const made = state.action === 'store' ? state.snapshotRef : undefined;
    const useless = written ? outcome.stale : result.certain ? made : undefined;
    if (!useless) return;
    try {
      await parts.snapshots?.remove(useless);
    } catch (error) {
      this.place.trouble('snapshot store', error);
    }
  }

  /** Fails a run without a turn; its state and events stay for a retry. */
  fail(item: HeldItem, error: unknown): void {
    void this.submit(item, { commit: failedTurn(item, error) });
  }

  private async readAllowLists(items: readonly HeldItem[]): Promise<void> {
    const { programs } = this.place.parts;
    const reads = items.flatMap((item) => {
      const list = item.type === 'workflow' ? programs.allowList(item.name, item.version ?? '') : undefined;
      return list instanceof Promise ? [list] : [];
    });
    if (reads.length > 0) await Promise.all(reads);
  }

  private async advance(item: HeldItem, state: TurnState | undefined, events: readonly StoredEvent[]): Promise<void> {
    const { place } = this;
    if (item.dropped) return;
    const order = events.find((event) => event.kind === 'cancel');
    // A paused run moves for nothing but a cancel, and so does one whose time has not come: the resume and the timer wake
    // them. A run that is gone needs nothing, not even its events.
    const rests = item.status === 'paused' || (state !== undefined && 'loaded' in state && state.loaded.early);
    if (!state) await place.dropLate([item.id]);
    if (!state || (rests && !order)) return void place.finish(item);
    if (place.parts.events.heard) place.parts.events.emit({ type: 'resumed', executionId: item.id, name: item.name });
    try {
      const outcome = await this.runner.run(item, state, events);
      this.guard.settle(item);
      this.unreached.delete(item.id);
      void this.submit(item, outcome);
    } catch (error) {
      place.trouble(`turn of ${item.id}`, error);
      if (error instanceof SnapshotsOutOfReachError) this.waitForState(item, error);
      else if (error instanceof OutOfReachError) void place.release([item], OUT_OF_REACH_MS);
      else this.fail(item, error);
    }
  }

  // Acts on the events of a task. True when it is run: whoever runs it settles it.
  private begin(item: HeldItem, events: readonly StoredEvent[]): boolean {
    const { place } = this;
    if (item.dropped) return false;
    // Sent before the task was started under that id: a task takes no signals.
    if (events.some((event) => event.kind === 'signal')) void place.dropLate([item.id]);
    const order = events.find((event) => event.kind === 'cancel');
    if (order) void this.cancelTask(item, order);
    else if (item.run) this.perform(item);
    else void place.finish(item);
    return !order && item.run;
  }

  // The run keeps its state and its events, says what it waits for, and is looked at again, ever more rarely.
  private waitForState(item: HeldItem, error: SnapshotsOutOfReachError): void {
    const { unreached } = this;
    const times = unreached.get(item.id) ?? 0;
    unreached.set(item.id, times + 1);
    for (const id of unreached.keys()) if (unreached.size > UNREACHED_KNOWN) unreached.delete(id);
    const commit = turnCommit({
      id: item.id,
      bucket: item.bucket,
      fence: item.fence,
      status: item.status,
      note: `Waits for the snapshot store. ${error.message}. It is tried again within a minute.`,
      startedAt: item.claimedAt,
      timers: [{ kind: 'wake', call: 0, delayMs: Math.min(OUT_OF_REACH_MS * 2 ** times, STATE_LOOK_MS) }],
      state: { action: 'leave' },
    });
    void this.submit(item, { commit });
  }

  private async submit(item: HeldItem, outcome: TurnOutcome): Promise<void> {
    const result = await this.place.loops.committer.submit({
      items: [item],
      turn: outcome.commit,
      refused: (error) => ({ items: [item], turn: failedTurn(item, error), refused: () => this.place.unwritable(item) }),
    });
    await this.written(outcome, result);
  }

  private async cancelTask(item: HeldItem, order: StoredEvent): Promise<void> {
    const reason = order.payload === null ? undefined : (JSON.parse(order.payload) as string);
    await this.place.loops.committer.submit({ items: [item], task: cancelled(item, reason), refused: () => this.place.unwritable(item) });
  }
}

function failedTurn(item: HeldItem, error: unknown): TurnOutcome['commit'] {
  return turnCommit({
    id: item.id,
    bucket: item.bucket,
    fence: item.fence,
    status: item.cancelled ? 'cancelled' : 'failed',
    error: JSON.stringify(toErrorData(error)),
    startedAt: item.claimedAt,
    parent: parentOf(item),
    // A cancelled run is over; a failed one may be retried.
    state: { action: item.cancelled ? 'drop' : 'leave' },
    remaining: item.cancelled ? null : undefined,
  });
}
