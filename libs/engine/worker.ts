// One worker: claim → admit → run → commit → announce, under one worker id, until it is stopped or declared dead.

import { hostname } from 'node:os';
import { CLOSE_TIMEOUT_MS, giveBackItems, type Link, registerWorker, removeWorker, within } from '../store/index.js';
import { Announcer } from './commit/announcer.js';
import { Committer } from './commit/committer.js';
import { ImmediateClaims } from './commit/immediate-claims.js';
import type { WorkerParts } from './engine-options.js';
import { ClaimLoop } from './loops/claim-loop.js';
import { HeartbeatLoop } from './loops/heartbeat-loop.js';
import { QueueHead } from './loops/queue-head.js';
import { RetentionLoop } from './loops/retention-loop.js';
import { TimerLoop } from './loops/timer-loop.js';
import { VacuumLoop } from './loops/vacuum-loop.js';
import { Wakeups } from './loops/wakeups.js';
import { sleep } from './runtime.js';
import { TaskLane } from './tasks/task-lane.js';
import { FusedStep } from './turns/fused-step.js';
import { LongTurns } from './turns/long-turns.js';
import { StepEnds } from './turns/step-ends.js';
import { StepRows } from './turns/step-rows.js';
import { StepsInPlace } from './turns/steps-in-place.js';
import { ThreadShare } from './turns/thread-share.js';
import { TurnLane } from './turns/turn-lane.js';
import { TurnRunner } from './turns/turn-runner.js';
import { TurnWriter } from './turns/turn-writer.js';
import { VmCache } from './turns/vm-cache.js';
import { DatabaseClock } from './work/database-clock.js';
import { Dispatcher } from './work/dispatcher.js';
import { GiveBack } from './work/give-back.js';
import { HeldWork } from './work/held-work.js';
import { PoisonGuard } from './work/poison-guard.js';
import { Slots } from './work/slots.js';
import { Stopper } from './work/stopper.js';

const LOCK_MS = 2_000;
// How long a shutdown waits for the database, beyond its grace: for finished work to be written, and for the rest to be given back.
// Together with closing the connections (here, then in the store) ten seconds, as documented.
const DRAIN_MS = 5_000;
const GIVE_BACK_MS = 2_000;
const CHECK_EVERY_MS = 10;

export class Worker {
  readonly id: string;
  /** Resolves when this worker was declared dead by another and has stopped. */
  readonly declaredDead: Promise<void>;
  private readonly parts: WorkerParts;
  private readonly held: HeldWork;
  private readonly cache: VmCache;
  private readonly stopper: Stopper;
  private readonly committer: Committer;
  private readonly claims: ClaimLoop;
  private readonly timers: TimerLoop;
  private readonly heartbeats: HeartbeatLoop;
  private readonly vacuum: VacuumLoop;
  private readonly retention: RetentionLoop;
  private readonly stepRows: StepRows;
  private readonly links: readonly Link[];
  /** Aborted when no new work is taken. */
  private readonly closing = new AbortController();
  /** Aborted when nothing is written any more. */
  private readonly closed = new AbortController();

  constructor(given: Omit<WorkerParts, 'workerId'>) {
    const { store, options, runtime } = given;
    this.id = `${options.workerName ?? `${hostname()}-${process.pid}`}-${runtime.newId().slice(-12)}`;
    const parts: WorkerParts = { ...given, workerId: this.id };
    this.parts = parts;
    const [closing, closed] = [this.closing.signal, this.closed.signal];
    // A row that another transaction keeps locked must not hold up all commits.
    const [reading, writing, separate] = [store.link(), store.link({ lockTimeoutMs: LOCK_MS }), store.link({ lockTimeoutMs: LOCK_MS })];
    this.links = [reading, writing, separate];

    // What everything below shares.
    const wakeups = new Wakeups(runtime, options.pollMs);
    const slots = new Slots(options.concurrency, wakeups.claims);
    const clock = new DatabaseClock(runtime);
    const head = new QueueHead(options.pollMs, runtime);
    const held = new HeldWork(runtime);
    const cache = new VmCache(options.cachedRuns, options.cacheBytes);
    const stopper = new Stopper(held, cache, store.hints);
    const steps = new StepsInPlace(parts, head, slots, held, cache, clock, closing);

    // Commit and announce.
    const announcer = new Announcer(parts, wakeups, clock, stopper);
    const immediate = new ImmediateClaims(parts, wakeups, head, slots, held, clock, closing);
    const committer = new Committer(parts, { main: writing, separate }, wakeups, slots, held, immediate, announcer);
    const stepRows = new StepRows(parts, wakeups, held, cache, committer, steps, closed);

    // Admit, and run in one of the two lanes.
    const giveBack = new GiveBack(parts, wakeups, held, committer, closing, closed);
    const guard = new PoisonGuard(parts, wakeups, committer, giveBack, closing);
    const longTurns = new LongTurns(runtime, options.workerHeapBytes, committer, held, closed);
    const runner = new TurnRunner(parts, new ThreadShare(runtime), longTurns);
    const turnWriter = new TurnWriter(parts, cache, committer, steps, stepRows, slots);
    const fusedStep = new FusedStep(parts, clock, cache, runner);
    const stepEnds = new StepEnds(parts, slots, fusedStep, turnWriter, steps, stepRows);
    const tasks = new TaskLane(parts, slots, held, committer, announcer, giveBack, guard, fusedStep, turnWriter, stepEnds, stepRows);
    const turns = new TurnLane(parts, reading, slots, cache, committer, giveBack, guard, runner, turnWriter, tasks, steps);
    const dispatcher = new Dispatcher(slots, clock, guard, tasks, turns);

    // The loops.
    this.claims = new ClaimLoop(parts, wakeups, head, held, slots, committer, giveBack, dispatcher);
    this.timers = new TimerLoop(parts, wakeups.timers, announcer);
    this.heartbeats = new HeartbeatLoop(parts, wakeups.heartbeats, held, cache, stopper, announcer, stepRows);
    // Its lock belongs to a session, which a transaction pooler does not keep.
    this.vacuum = new VacuumLoop(parts, writing, store.pooled ? 0 : options.vacuumMs, committer);
    this.retention = new RetentionLoop(parts);

    this.stepRows = stepRows;
    this.held = held;
    this.cache = cache;
    this.stopper = stopper;
    this.committer = committer;
    this.declaredDead = this.heartbeats.declaredDead.then(() => this.stopDeclaredDead());
  }

  async start(): Promise<void> {
    const { options, store, tasks, events } = this.parts;
    const { queues, concurrency, codeVersion } = options;
    const [host, pid] = [hostname(), process.pid];
    await registerWorker(store.db, { workerId: this.id, host, pid, queues, tasks: tasks.names(), concurrency, codeVersion });
    this.stepRows.start();
    this.heartbeats.start();
    this.timers.start();
    this.vacuum.start();
    this.retention.start();
    this.claims.start();
    events.emit({ type: 'worker-started', workerId: this.id });
  }

  /** Stops claiming, lets tasks finish within the grace period, aborts the rest and gives their work back at once. */
  async stop(): Promise<void> {
    const { options, runtime, events } = this.parts;
    const { shutdownGraceMs } = options;
    const graceOver = runtime.monotonicNow() + shutdownGraceMs;
    this.closing.abort();
    const claimed = this.claims.stop(Math.max(shutdownGraceMs, CLOSE_TIMEOUT_MS));
    await within(claimed, shutdownGraceMs, runtime);
    while (this.held.size > 0 && runtime.monotonicNow() < graceOver) await sleep(runtime, CHECK_EVERY_MS);
    this.abortHeld();
    await claimed;
    await this.committer.drained(DRAIN_MS);
    // What could not be written by now is found by the next sweep of another worker; what finishes later has lost its fence.
    this.committer.stop();
    // A claim may have returned as late as after the grace.
    this.abortHeld();
    if (!(await within(this.giveBackAll(), GIVE_BACK_MS, runtime))) this.problem('give back', new Error('The database did not reply.'));
    await this.close();
    events.emit({ type: 'worker-stopped', workerId: this.id });
  }

  /** For a worker that could not start: it did nothing, and leaves nothing behind. */
  async discard(): Promise<void> {
    this.closing.abort();
    await this.claims.stop();
    await this.close();
  }

  // Declared dead: others have its work. Whatever it still does is stopped, and nothing of it may be written.
  private async stopDeclaredDead(): Promise<void> {
    // A worker that is being stopped gives its work back itself, and is not replaced.
    if (this.closing.signal.aborted) return new Promise(() => undefined);
    this.closing.abort();
    this.parts.events.emit({ type: 'worker-declared-dead', workerId: this.id });
    this.committer.stop();
    for (const item of this.held.all()) {
      item.dropped = true;
      item.running?.stop('dead');
    }
    try {
      await this.claims.stop();
      await this.close();
    } catch (error) {
      this.problem('end of a worker that was declared dead', error);
    }
  }

  private async close(): Promise<void> {
    this.closed.abort();
    this.stepRows.stop();
    this.stopper.close();
    this.cache.clear();
    await Promise.all([
      this.timers.stop(),
      this.vacuum.stop(),
      this.retention.stop(),
      this.heartbeats.stop(),
      ...this.links.map((link) => link.close()),
    ]);
  }

  private abortHeld(): void {
    for (const item of this.held.all()) item.running?.stop('shutdown');
  }

  // Gives back what is held, and removes the worker: its claims are gone by then, or are found by a sweep.
  private async giveBackAll(): Promise<void> {
    const { store, runtime } = this.parts;
    for (const item of this.held.all()) item.dropped = true;
    await this.stepRows.giveBack(this.held.all());
    const items = this.held.all();
    const { claims } = this.held.begin(items);
    if (items.length + claims.length > 0) {
      try {
        const given = await giveBackItems(store.db, this.id, items, claims, runtime.newFence());
        for (const queue of new Set(given.map((item) => item.queue))) store.hints.hint('work', queue);
      } catch (error) {
        // The database cannot be reached: the next sweep of another worker finds the claims of a silent worker.
        this.problem('give back', error);
      }
    }
    await this.heartbeats.stop();
    await removeWorker(store.db, this.id).catch((error) => this.problem('remove worker', error));
  }

  private problem(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'problem', where, error });
  }
}
