// Advances claimed runs: loads their state and events, runs their turns, and writes the outcome.

import { IsolationBusyError, TurnKilledError, TurnStoppedError } from '../../isolation/index.js';
import { isDatabaseError, type Link, loadRuns, readDoomed, type StoredEvent, turnCommit } from '../../store/index.js';
import type { Committer } from '../commit/committer.js';
import { failedWork } from '../commit/finished-work.js';
import type { WorkerParts } from '../engine-options.js';
import { cancelled } from '../tasks/task-commits.js';
import type { TaskLane } from '../tasks/task-lane.js';
import { SnapshotStoreUnreachableError, UNREACHABLE_RETRY_MS, UnreachableError } from '../unreachable.js';
import type { GiveBack } from '../work/give-back.js';
import type { HeldItem } from '../work/held-work.js';
import type { PoisonGuard } from '../work/poison-guard.js';
import type { Slots } from '../work/slots.js';
import type { StepsInPlace } from './steps-in-place.js';
import { IN_MEMORY, reasonOf } from './turn-events.js';
import type { TurnOutcome, TurnState } from './turn-outcome.js';
import type { TurnRunner } from './turn-runner.js';
import type { TurnWriter } from './turn-writer.js';
import type { VmCache } from './vm-cache.js';

// A run whose state cannot be reached is tried again after 1 s, 2 s, 4 s … and then at this interval.
const LONGEST_STATE_WAIT_MS = 60_000;
// More than wait at one time; older counts may start again.
const MOST_COUNTED = 10_000;

// Runs of one batch whose states are read from a snapshot store at the same time.
const STORE_LANES = 8;

const NOT_DOOMED: ReadonlySet<string> = new Set();
const CANCELLED_WITH = 'A run that it belongs to was cancelled.';
const CANCELLED_ABOVE: StoredEvent = {
  executionId: '',
  seq: IN_MEMORY,
  kind: 'cancel',
  call: 0,
  name: null,
  payload: JSON.stringify(CANCELLED_WITH),
};

export class TurnLane {
  /** How often in a row the state of each run could not be reached from here. */
  private readonly failedReads = new Map<string, number>();

  constructor(
    private readonly parts: WorkerParts,
    /** For reading states and events. */
    private readonly link: Link,
    private readonly slots: Slots,
    private readonly cache: VmCache,
    private readonly committer: Committer,
    private readonly giveBack: GiveBack,
    private readonly guard: PoisonGuard,
    private readonly runner: TurnRunner,
    private readonly writer: TurnWriter,
    private readonly tasks: TaskLane,
    private readonly steps: StepsInPlace,
  ) {}

  /** Advances runs, and reads the events of tasks that were woken. */
  async run(items: HeldItem[]): Promise<void> {
    const states = new Map<string, TurnState>();
    for (const item of items) {
      const run = item.type === 'workflow' ? this.cache.take(item.id, item.fence) : undefined;
      // How much the groups of a run have left is in the database: without it every turn would have to wake the run once more.
      if (run && !run.grouped) states.set(item.id, { cached: run });
    }
    const toLoad = items.filter((item) => item.type === 'workflow' && !states.has(item.id));
    // Tasks that run after their events were read keep their slots.
    const toRun = items.filter((item) => item.run).length;
    this.slots.acquire('turn', items.length);
    this.slots.acquire('reserved', toRun);
    const settled = new Set(items);
    const begun = new Set<HeldItem>();
    let failure: { error: unknown } | undefined;
    try {
      // What limits the runs is read meanwhile, so that their turns need not wait for them.
      const [{ runs, events }, doomed] = await Promise.all([
        loadRuns(this.link, toLoad, items),
        this.readDoomed(toLoad),
        this.readRules(items),
      ]);
      for (const run of runs) states.set(run.id, { loaded: run });
      await this.each(items, async (item) => {
        const stored = events.get(item.id) ?? [];
        const state = states.get(item.id);
        if (item.type !== 'workflow') {
          if (this.actOnEvents(item, stored)) settled.delete(item);
        } else if (state && 'loaded' in state && state.loaded.isLarge && !doomed.has(item.id)) {
          if (await this.beginLarge(item)) settled.delete(item);
        } else if (await this.begin(item, state, doomed.has(item.id) ? [...stored, CANCELLED_ABOVE] : stored)) settled.delete(item);
        begun.add(item);
      });
    } catch (error) {
      this.problem('load', error);
      failure = { error };
      for (const item of items) if (!begun.has(item)) settled.delete(item);
    } finally {
      for (const item of settled) this.guard.settle(item);
      this.slots.release('turn', items.length);
      this.slots.release('reserved', toRun);
    }
    if (failure)
      await this.loadLater(
        items.filter((item) => !begun.has(item)),
        failure.error,
      );
  }

  // One after the other: only one state is in memory as text. A snapshot store may be slow, so with one some are read side by side.
  private async each(items: readonly HeldItem[], advance: (item: HeldItem) => Promise<void>): Promise<void> {
    const waiting = items.values();
    const lane = async () => {
      for (const item of waiting) await advance(item);
    };
    await Promise.all(Array.from({ length: this.parts.snapshots ? STORE_LANES : 1 }, lane));
  }

  private async beginLarge(item: HeldItem): Promise<boolean> {
    let loaded: Awaited<ReturnType<typeof loadRuns>>;
    try {
      loaded = await loadRuns(this.link, [item], [item], { large: true });
    } catch (error) {
      this.problem('load', error);
      await this.loadLater([item], error);
      return true;
    }
    const [run] = loaded.runs;
    return this.begin(item, run && { loaded: run }, loaded.events.get(item.id) ?? []);
  }

  private async readDoomed(items: readonly HeldItem[]): Promise<ReadonlySet<string>> {
    const first = items.filter(({ id, status, parentId }) => status === 'pending' && parentId !== null && id.startsWith(`${parentId}:`));
    const ids = first.map(({ id }) => id);
    return ids.length > 0 ? readDoomed(this.link, ids, CANCELLED_WITH) : NOT_DOOMED;
  }

  // The reply may be too large for the server, or the problem may lie in one run: they are loaded one by one, and one that cannot be
  // loaded alone waits a moment.
  private async loadLater(items: HeldItem[], error: unknown): Promise<void> {
    if (isDatabaseError(error) && items.length > 1) {
      for (const item of items) await this.run([item]);
      return;
    }
    for (const item of items) this.guard.settle(item);
    if (isDatabaseError(error)) await this.giveBack.later(items, UNREACHABLE_RETRY_MS);
    else await this.giveBack.now(items);
  }

  private async readRules(items: readonly HeldItem[]): Promise<void> {
    const { programs } = this.parts;
    const reads = items.flatMap((item) => {
      const rules = item.type === 'workflow' ? programs.rules(item.name, item.version ?? '') : undefined;
      return rules instanceof Promise ? [rules] : [];
    });
    if (reads.length > 0) await Promise.all(reads);
  }

  // Known already, unless the turns before this one took long. If it cannot be read, the turn finds that out and is put off.
  private isIsolated(item: HeldItem): boolean | Promise<boolean> {
    const rules = this.parts.programs.rules(item.name, item.version ?? '');
    if (!(rules instanceof Promise)) return rules.isolate;
    return rules.then(
      ({ isolate }) => isolate,
      () => false,
    );
  }

  // Runs that wait for another process hold up nothing here, and need no slot: how many wait is limited by their pool.
  private async advanceApart(item: HeldItem, state: TurnState | undefined, stored: readonly StoredEvent[]): Promise<void> {
    await this.advance(item, state, stored);
    this.guard.settle(item);
  }

  // Returns true when the turn goes on by itself, and settles its run then: in another process, or as a long one, which keeps a slot of its
  // own. The others of the same claim do not wait for it.
  private async begin(item: HeldItem, state: TurnState | undefined, stored: readonly StoredEvent[]): Promise<boolean> {
    const isolated = this.isIsolated(item);
    if (isolated instanceof Promise ? await isolated : isolated) {
      void this.advanceApart(item, state, stored);
      return true;
    }
    let onLong: () => void = () => undefined;
    const isLong = new Promise<boolean>((resolve) => {
      onLong = () => {
        this.slots.acquire('turn');
        resolve(true);
      };
    });
    const advanced = this.advance(item, state, stored, onLong).then(() => false);
    if (!(await Promise.race([advanced, isLong]))) return false;
    void advanced.then(() => this.slots.release('turn'));
    return true;
  }

  private async advance(item: HeldItem, state: TurnState | undefined, stored: readonly StoredEvent[], onLong?: () => void): Promise<void> {
    if (item.dropped) return;
    const cancel = stored.find((event) => event.kind === 'cancel');
    // A paused run moves only for a cancel, and so does one whose start time has not come: the resume and the timer wake them. The
    // events of a run that was removed are deleted.
    const mustWait = item.status === 'paused' || (state !== undefined && 'loaded' in state && state.loaded.early);
    if (!state) await this.giveBack.dropLateEvents([item.id]);
    if (!state || (mustWait && !cancel)) return void this.giveBack.end(item);
    // A step that ends meanwhile waits until the turn is written, and moves the run then. If the run is being written at this moment,
    // the turn loses its fence: the run is woken again.
    let locked = this.steps.tryLock(item.id);
    // A step that ends during a long turn is written apart, and the turn, which loses its fence then, is run again with its result. The
    // result must not stay in memory for so long.
    const began = () => {
      locked?.unlock();
      locked = undefined;
      onLong?.();
    };
    try {
      const outcome = await this.runner.run(item, state, stored, { began });
      this.guard.settle(item);
      this.failedReads.delete(item.id);
      void this.write(item, outcome, locked);
    } catch (error) {
      locked?.unlock();
      // It is held until everything is given back.
      if (error instanceof TurnStoppedError) return;
      this.guard.settle(item);
      if (error instanceof IsolationBusyError) return void this.giveBack.later([item], error.retryMs);
      this.problem(`turn of ${item.id}`, error);
      if (error instanceof TurnKilledError) return await this.guard.crashed(item, error);
      if (error instanceof SnapshotStoreUnreachableError) this.waitForState(item, error);
      else if (error instanceof UnreachableError) void this.giveBack.later([item], UNREACHABLE_RETRY_MS);
      else void this.committer.submit(failedWork(item, error));
    }
  }

  private async write(item: HeldItem, outcome: TurnOutcome, locked?: { unlock(): void }): Promise<void> {
    const { toRun } = await this.writer.write([item], outcome);
    locked?.unlock();
    this.tasks.runClaimedAtOnce(toRun);
  }

  // Acts on the events of a task. Returns true when it is run: then the task lane settles it.
  private actOnEvents(item: HeldItem, stored: readonly StoredEvent[]): boolean {
    if (item.dropped) return false;
    // Sent before the task was started under that id: a task takes no signals.
    if (stored.some((event) => event.kind === 'signal')) void this.giveBack.dropLateEvents([item.id]);
    const cancel = stored.find((event) => event.kind === 'cancel');
    if (cancel) void this.committer.submit({ items: [item], task: cancelled(item, reasonOf(cancel)), isLastResort: true });
    else if (item.run) void this.runTask(item);
    else void this.giveBack.end(item);
    return !cancel && item.run;
  }

  // The guard admitted it without a check, because reading its events runs nothing of it; now it is checked.
  private async runTask(item: HeldItem): Promise<void> {
    item.readEventsFirst = false;
    this.tasks.run(await this.guard.admit([item]));
  }

  // The run keeps its state and its events, has a note about what it waits for, and is tried again, less and less often.
  private waitForState(item: HeldItem, error: SnapshotStoreUnreachableError): void {
    const { failedReads } = this;
    const times = failedReads.get(item.id) ?? 0;
    failedReads.set(item.id, times + 1);
    for (const id of failedReads.keys()) if (failedReads.size > MOST_COUNTED) failedReads.delete(id);
    const commit = turnCommit({
      id: item.id,
      bucket: item.bucket,
      fence: item.fence,
      status: item.status,
      note: `Waits for the snapshot store. ${error.message}. It is tried again within a minute.`,
      startedAt: item.claimedAt,
      timers: [{ kind: 'wake', call: 0, delayMs: Math.min(UNREACHABLE_RETRY_MS * 2 ** times, LONGEST_STATE_WAIT_MS) }],
      state: { action: 'leave' },
    });
    void this.write(item, { commit });
  }

  private problem(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'problem', where, error });
  }
}
