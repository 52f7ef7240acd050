// The processes of isolated flows of one worker: started when there is work for them, shared fairly, replaced, and ended.

import { FlowSnapshotError } from '../flow/index.js';
import { type CheckedTurn, checkReply } from './check-reply.js';
import { InvalidReply } from './checked.js';
import { childPlace } from './child-place.js';
import { ChildProcessOfFlows } from './child-process.js';
import { IsolationBusyError, IsolationStartError, TurnKilledError, TurnStoppedError } from './errors.js';
import { FairQueue, type Waiting } from './fair-queue.js';
import type { Frame } from './frames.js';
import { type IsolatedTurn, sizeOf } from './isolated-turn.js';
import { replyLimits } from './messages.js';
import { DEFAULT_ISOLATION, type IsolationOptions } from './options.js';
import { ProgramTexts } from './program-texts.js';
import { requestOf } from './request.js';
import { Suspects } from './suspects.js';

/** A turn that was handed in. */
export interface IsolatedTurnHandle {
  /** Rejects with one of the errors of this room, or with the FlowSnapshotError of a state that cannot be used. */
  readonly outcome: Promise<CheckedTurn>;
  /** Ends it without an outcome: the worker stops. */
  stop(): void;
}

interface Job extends Waiting {
  turn: IsolatedTurn;
  resolve(outcome: CheckedTurn): void;
  reject(error: Error): void;
  child?: ChildProcessOfFlows;
}

// Turns that wait are held by this worker, with their state in memory; beyond that they wait in the database.
const MOST_WAITING = { all: 400, perWorkflow: 100, size: 67_108_864 };
const START_AGAIN_MS = 1_000;
const SHORTEST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 10_000;
// How quickly the average follows the last turns.
const WEIGHT = 0.1;
// Garbage of one turn must not count against the run that comes next.
const MOST_RESIDENT = 0.5;

export class IsolationPool {
  private readonly options: IsolationOptions;
  private readonly queue = new FairQueue<Job>(MOST_WAITING, (job) => this.isSuspicious(job));
  private readonly children = new Set<ChildProcessOfFlows>();
  /** The process that was used last is used first, so that the others may end. */
  private readonly idle: ChildProcessOfFlows[] = [];
  private readonly running = new Map<ChildProcessOfFlows, Job>();
  private readonly idleTimers = new Map<ChildProcessOfFlows, NodeJS.Timeout>();
  /** They keep so much memory that they are not used again. */
  private readonly large = new WeakSet<ChildProcessOfFlows>();
  private readonly suspects = new Suspects();
  private readonly texts = new ProgramTexts<ChildProcessOfFlows>();
  private starting = 0;
  private noStartBefore = 0;
  private isClosed = false;
  private averageMs = 5;
  /** About how many turns were refused and have not come back. */
  private refused = 0;

  constructor(options: Partial<IsolationOptions> = {}) {
    this.options = { ...DEFAULT_ISOLATION, ...options };
  }

  /** The memory of a process, for limits that depend on it. */
  get memoryBytes(): number {
    return this.options.memoryBytes;
  }

  /** The ids of the processes that there are. */
  get pids(): number[] {
    return [...this.children].flatMap(({ pid }) => pid ?? []);
  }

  /** Throws when processes could not be started here at all. */
  check(): void {
    if (!this.options.place) childPlace();
  }

  /** Runs a turn as soon as a process is free. */
  run(turn: IsolatedTurn): IsolatedTurnHandle {
    let job: Job | undefined;
    const outcome = new Promise<CheckedTurn>((resolve, reject) => {
      if (this.isClosed) return reject(new TurnStoppedError());
      const { workflow } = turn.context;
      job = { turn, workflow, size: sizeOf(turn), resolve, reject };
      if (!this.queue.add(job)) return reject(this.busy());
      this.pump();
    });
    return { outcome, stop: () => job && this.stop(job) };
  }

  /** Ends all processes; turns under way are stopped. Resolves when none is left. */
  async close(): Promise<void> {
    this.isClosed = true;
    for (const job of this.queue.drain()) job.reject(new TurnStoppedError());
    const ending = [...this.children].map((child) => child.ended);
    for (const child of this.children) this.end(child);
    await Promise.all(ending);
  }

  private stop(job: Job): void {
    if (this.queue.remove(job)) job.reject(new TurnStoppedError());
    else if (job.child && this.running.get(job.child) === job) job.child.kill(new TurnStoppedError());
  }

  // Gives waiting turns to free processes, and starts processes for those that are left.
  private pump(): void {
    while (this.idle.length > 0) {
      const child = this.idle.pop() as ChildProcessOfFlows;
      // It has misbehaved while it had nothing to do, and is ending.
      if (!child.isUsable) continue;
      const job = this.queue.take(this.maySuspicious());
      if (!job) {
        this.idle.push(child);
        break;
      }
      void this.runIn(child, job);
    }
    const mayStart = () => this.children.size < this.options.processes && performance.now() >= this.noStartBefore;
    while (this.queue.length > this.starting && mayStart()) if (!this.start()) break;
    for (const child of this.idle) this.endWhenIdle(child);
  }

  private maySuspicious(): boolean {
    let held = 0;
    for (const job of this.running.values()) if (this.isSuspicious(job)) held++;
    return held < Math.max(1, Math.floor(this.options.processes / 2));
  }

  private isSuspicious({ turn, workflow }: Job): boolean {
    return turn.crashes > 0 || this.suspects.has(workflow);
  }

  private async runIn(child: ChildProcessOfFlows, job: Job): Promise<void> {
    clearTimeout(this.idleTimers.get(child));
    this.idleTimers.delete(child);
    this.running.set(child, job);
    job.child = child;
    this.refused = Math.max(0, this.refused - 1);
    const began = performance.now();
    try {
      job.resolve(await this.exchange(child, job.turn));
    } catch (error) {
      if (error instanceof TurnKilledError) this.suspects.add(job.workflow);
      job.reject(error as Error);
    } finally {
      this.averageMs += WEIGHT * (performance.now() - began - this.averageMs);
      this.running.delete(child);
      const isSpent = !child.isUsable || child.turns >= this.options.turnsPerProcess || this.isClosed || this.large.has(child);
      if (isSpent) this.end(child);
      else this.idle.push(child);
      this.pump();
    }
  }

  private async exchange(child: ChildProcessOfFlows, turn: IsolatedTurn): Promise<CheckedTurn> {
    const { program, limits, allow, numberAfter, events } = turn;
    const request = requestOf(turn, this.texts.toSend(child, program), replyLimits(limits));
    const reply = await child.run(request);
    try {
      throwRefusal(reply);
      const signals = new Set(events.flatMap((event) => (event.kind === 'signal' ? event.key : [])));
      const cancels = events.some(({ kind }) => kind === 'cancel');
      const asked = { limits, allow, numberAfter, signals, cancels, fingerprint: program.fingerprint };
      const checked = await checkReply(reply, asked);
      if (checked.resident > this.options.memoryBytes * MOST_RESIDENT) this.large.add(child);
      return checked;
    } catch (error) {
      if (error instanceof InvalidReply) throw child.distrust(error.message);
      // It may have been the program that it could not load.
      this.texts.forget(child);
      throw error;
    }
  }

  private start(): boolean {
    let child: ChildProcessOfFlows;
    try {
      child = new ChildProcessOfFlows(this.options, this.options.place ?? childPlace());
    } catch (error) {
      this.failedStart(error instanceof IsolationStartError ? error : new IsolationStartError((error as Error).message));
      return false;
    }
    this.children.add(child);
    this.starting++;
    void child.ended.then(() => this.forget(child));
    void child.ready.then(
      () => {
        this.starting--;
        if (this.isClosed) return this.end(child);
        this.idle.push(child);
        this.pump();
      },
      (error: IsolationStartError) => {
        this.starting--;
        this.end(child);
        if (!this.isClosed) this.failedStart(error);
      },
    );
    return true;
  }

  // Turns that wait for nothing else are put off by whoever handed them in, which is also the pause before the next try.
  private failedStart(error: IsolationStartError): void {
    this.noStartBefore = performance.now() + START_AGAIN_MS;
    if (this.running.size === 0 && this.starting === 0) for (const job of this.queue.drain()) job.reject(error);
  }

  private endWhenIdle(child: ChildProcessOfFlows): void {
    if (this.idleTimers.has(child)) return;
    const timer = setTimeout(() => this.end(child), this.options.idleMs);
    timer.unref();
    this.idleTimers.set(child, timer);
  }

  private end(child: ChildProcessOfFlows): void {
    child.kill();
    this.leave(child);
  }

  private leave(child: ChildProcessOfFlows): void {
    const at = this.idle.indexOf(child);
    if (at >= 0) this.idle.splice(at, 1);
    clearTimeout(this.idleTimers.get(child));
    this.idleTimers.delete(child);
    this.texts.forget(child);
  }

  // It has ended, whoever ended it: there is room for another.
  private forget(child: ChildProcessOfFlows): void {
    this.leave(child);
    this.children.delete(child);
    if (!this.isClosed) this.pump();
  }

  private busy(): IsolationBusyError {
    this.refused++;
    const ms = ((this.refused + this.queue.length) * this.averageMs) / this.options.processes;
    // Not all of them at the same time.
    const spread = 0.5 + Math.random();
    return new IsolationBusyError(this.queue.length, Math.min(Math.max(ms, SHORTEST_RETRY_MS), LONGEST_RETRY_MS) * spread);
  }
}

const REFUSALS = ['FLOW_SNAPSHOT', 'FLOW_OTHER_PROGRAM', 'FLOW_NEWER_FORMAT'] as const;

// The state cannot be used: it fails its run, or waits for a newer release.
function throwRefusal({ head }: Frame): void {
  const refused = (head as { refused?: { code?: unknown; message?: unknown } } | null)?.refused;
  if (refused === undefined || refused === null) return;
  const code = REFUSALS.find((each) => each === refused.code);
  if (code === undefined || typeof refused.message !== 'string') throw new InvalidReply('its refusal is damaged');
  throw new FlowSnapshotError(refused.message, { code });
}
