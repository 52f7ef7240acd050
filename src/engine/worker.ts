// One life of a worker: claim → run → commit, under one worker id, until it is stopped or declared dead.

import { hostname } from 'node:os';
import { GOODBYE_MS, giveBackItems, type Link, leave, newId, registerWorker, within } from '../../libs/store/index.js';
import { Announcer } from './announcer.js';
import { ClaimLoop } from './claim-loop.js';
import { Committer } from './committer.js';
import { EagerDispatch } from './eager-dispatch.js';
import { Heart } from './heart.js';
import type { HeldItem } from './held-work.js';
import { PoisonGuard } from './poison-guard.js';
import { TaskLane } from './task-lane.js';
import { failedAtOnce } from './task-runner.js';
import { TimerLoop } from './timer-loop.js';
import { TurnLane } from './turn-lane.js';
import { VacuumLoop } from './vacuum-loop.js';
import { type WorkerParts, Workplace } from './workplace.js';

const LOCK_MS = 2_000;
// How long a shutdown waits for the database, beyond its grace: for finished work to be written, and for the rest to be handed
// back. Together with the end of the connections (here, then in the store) ten seconds, which is what the documentation says.
const DRAIN_MS = 5_000;
const HAND_BACK_MS = 2_000;

export class Worker {
  readonly id: string;
  private readonly place: Workplace;
  private readonly links: Link[];
  private readonly tasks: TaskLane;
  private readonly turns: TurnLane;
  private readonly guard: PoisonGuard;
  private readonly vacuum: VacuumLoop;
  private readonly deaf: () => void;

  constructor(private readonly parts: WorkerParts) {
    const { store, options, events } = parts;
    this.id = `${options.workerName ?? `${hostname()}-${process.pid}`}-${newId().slice(-12)}`;
    const place = new Workplace(this.id, parts);
    this.place = place;
    // A row that somebody keeps locked must not hold up everybody's commits.
    const [reading, writing, aside] = [store.link(), store.link({ lockTimeoutMs: LOCK_MS }), store.link({ lockTimeoutMs: LOCK_MS })];
    this.links = [reading, writing, aside];
    // Its lock belongs to a session, which a transaction pooler does not keep.
    this.vacuum = new VacuumLoop(store, writing, store.pooled ? 0 : options.vacuumMs, events);

    const eager = new EagerDispatch(place, (item) => this.perform(item));
    const announcer = new Announcer(place, (id) => eager.isTaken(id));
    this.guard = new PoisonGuard(place, (item, error) => this.fail(item, error));
    this.turns = new TurnLane(place, reading, this.guard, (item) => void this.performLooked(item));
    this.tasks = new TaskLane(place, this.turns, this.guard, announcer);

    const shared = { store, workerId: this.id, held: place.held, options, events };
    const wake = (queues: readonly string[]) => place.wake(queues);
    place.loops = {
      committer: new Committer(writing, aside, this.id, place.held, events, {
        written: (works, results) => {
          this.vacuum.count(works.length);
          announcer.written(works, results);
          // What waits to be written keeps new work out; some of it has gone.
          place.loops.claims.roomFreed();
        },
        choose: (turns) => eager.choose(turns),
        taken: (claim, turns, outcome) => eager.taken(claim, turns, outcome),
        doubt: (claim) => eager.doubt(claim),
        refused: (work, error) => void place.noteRefused(work, error),
      }),
      claims: new ClaimLoop({
        ...shared,
        room: () => place.room(),
        has: (task) => parts.tasks.get(task) !== undefined,
        dispatch: (items) => void this.dispatch(items),
        dropLate: (ids) => place.dropLate(ids),
        doubt: () => place.loops.heart.doubt(),
      }),
      heart: new Heart({
        ...shared,
        dead: () => this.die(),
        lost: (id, fence) => place.lose(id, 'lost', fence),
        serverChanged: () => place.cache.clear(),
        woke: wake,
      }),
      timers: new TimerLoop({ store, workerId: this.id, pollMs: options.pollMs, events, woke: wake, ended: (id) => this.endedByTime(id) }),
    };
    this.deaf = store.hints.on('lost', (id) => place.lose(id, 'lost'));
  }

  async start(): Promise<void> {
    const { options, store, events } = this.parts;
    const { queues, concurrency, codeVersion } = options;
    const [host, tasks] = [hostname(), this.parts.tasks.names()];
    await registerWorker(store.db, { workerId: this.id, host, pid: process.pid, queues, tasks, concurrency, codeVersion });
    const { heart, timers, claims } = this.place.loops;
    heart.start();
    timers.start();
    this.vacuum.start();
    claims.start();
    events.emit({ type: 'worker-started', workerId: this.id });
  }

  /** Stops claiming, lets tasks finish within the grace period, aborts the rest and hands their work back at once. */
  async stop(): Promise<void> {
    const { place, parts } = this;
    const { shutdownGraceMs } = parts.options;
    const graceOver = performance.now() + shutdownGraceMs;
    place.closing = true;
    const claimed = place.loops.claims.stop(Math.max(shutdownGraceMs, GOODBYE_MS));
    await within(claimed, shutdownGraceMs);
    await this.finishUntil(graceOver);
    this.abortHeld();
    await claimed;
    await place.loops.committer.drained(DRAIN_MS);
    // What could not be written by now is found by the next sweep of another worker; what finishes later has lost its fence.
    place.loops.committer.stop();
    // A claim may have been answered as late as after the grace.
    this.abortHeld();
    if (!(await within(this.handBack(), HAND_BACK_MS))) place.trouble('hand back', new Error('The database did not answer.'));
    await this.close();
    parts.events.emit({ type: 'worker-stopped', workerId: this.id });
  }

  /** For one that could not start: it did nothing, and leaves nothing behind. */
  async discard(): Promise<void> {
    this.place.closing = true;
    await this.place.loops.claims.stop();
    await this.close();
  }

  private async dispatch(claimed: HeldItem[]): Promise<void> {
    const { place } = this;
    place.readClock(claimed);
    const toLookAt: HeldItem[] = [];
    const unknown: HeldItem[] = [];
    // They take their room until those that may run do.
    place.reserved += claimed.length;
    let looked: Promise<void> | undefined;
    try {
      for (const item of await this.guard.admit(claimed)) {
        if (item.type !== 'task' || !item.run || item.lookFirst) toLookAt.push(item);
        else if (!this.perform(item)) unknown.push(item);
      }
      if (unknown.length > 0) void this.passOn(unknown);
      if (toLookAt.length > 0) looked = this.turns.look(toLookAt);
    } finally {
      place.reserved -= claimed.length;
      place.loops.claims.roomFreed();
    }
    await looked;
  }

  // Returns whether this worker has the task.
  private perform(item: HeldItem): boolean {
    const task = this.parts.tasks.get(item.name);
    if (task) void this.tasks.perform(item, task);
    return task !== undefined;
  }

  // The look was not held up by suspicion; the run is.
  private async performLooked(item: HeldItem): Promise<void> {
    item.lookFirst = false;
    for (const admitted of await this.guard.admit([item])) if (!this.perform(admitted)) await this.passOn([admitted]);
  }

  private async passOn(items: readonly HeldItem[]): Promise<void> {
    for (const item of items) this.guard.settle(item);
    await this.place.passOn(items);
    this.place.loops.claims.roomFreed();
  }

  private fail(item: HeldItem, error: unknown): void {
    if (item.type === 'task') void this.tasks.submit(item, failedAtOnce(item, error));
    else this.turns.fail(item, error);
  }

  private endedByTime(executionId: string): void {
    this.place.lose(executionId, 'lost');
    this.parts.store.hints.hint('lost', executionId);
    this.parts.store.hints.hint('ended', executionId);
  }

  // Declared dead: others have its work. Whatever it still does is stopped, and nothing of it may be written.
  private die(): void {
    const { place, parts } = this;
    if (place.closing) return;
    place.closing = true;
    parts.events.emit({ type: 'worker-declared-dead', workerId: this.id });
    place.loops.committer.stop();
    for (const item of place.held.all()) {
      item.dropped = true;
      item.stop?.('dead');
    }
    void place.loops.claims
      .stop()
      .then(() => this.close())
      .catch((error) => place.trouble('end of a life', error))
      .finally(() => parts.died());
  }

  private async close(): Promise<void> {
    const { place } = this;
    place.closed = true;
    this.deaf();
    place.cache.clear();
    await Promise.all([place.loops.timers.stop(), this.vacuum.stop(), place.loops.heart.stop(), ...this.links.map((link) => link.close())]);
  }

  private async finishUntil(deadline: number): Promise<void> {
    while (this.place.held.size > 0 && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  private abortHeld(): void {
    for (const item of this.place.held.all()) item.stop?.('shutdown');
  }

  // Hands back what is held, and takes the worker off the list: its claims are gone by then, or are found by a sweep.
  private async handBack(): Promise<void> {
    const { place, parts } = this;
    await this.giveBackHeld();
    await place.loops.heart.stop();
    await leave(parts.store.db, this.id).catch((error) => place.trouble('leave', error));
  }

  private async giveBackHeld(): Promise<void> {
    const { place, parts } = this;
    const items = place.held.all();
    if (items.length === 0) return;
    for (const item of items) item.dropped = true;
    const { claims } = place.held.begin(items);
    try {
      const given = await giveBackItems(parts.store.db, this.id, items, claims);
      for (const queue of new Set(given.map((item) => item.queue))) parts.store.hints.hint('work', queue);
    } catch (error) {
      // The database is away: the next sweep of another worker finds the claims of a worker that is silent.
      place.trouble('hand back', error);
    }
  }
}
