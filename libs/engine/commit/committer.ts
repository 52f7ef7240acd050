// Group commit: finished work gathers while a commit is in flight, and the next commit writes all of it in one statement.

import { noteExecution, within } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { Wakeups } from '../loops/wakeups.js';
import { nextTick, sleep } from '../runtime.js';
import type { Ending, HeldItem, HeldWork } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import type { Announcer } from './announcer.js';
import { groupSize, sizeOf } from './commit-group.js';
import type { CommitResult, FinishedWork } from './finished-work.js';
import { type CommitLinks, GroupWriter, isWritten, type NotAccepted, RETRY_MS, type Written } from './group-writer.js';
import type { ImmediateClaims } from './immediate-claims.js';

interface Waiting {
  work: FinishedWork;
  bytes: number;
  /** Unless nobody waits for the outcome. */
  resolve: ((result: CommitResult) => void) | undefined;
}

// Under load, the next commit is queued behind the one that is being written, on the same connection, so that the
// database does not wait for Node to read the last reply: drain of noop tasks 57k → 63k per second, steps 18.0k → 19.6k.
const IN_FLIGHT = 2;
const SECOND_GROUP = 100;
// So many are sent at once, without waiting for what else finishes in the same moment: the database writes them while Node runs the turns
// of the others. Before, 500 runs in flight were one group, and Node and the database waited for each other (steps 31.0k → 34.0k).
const FULL_GROUP = 128;
// The longest wait between two tries of a work that the server does not accept.
const LONGEST_RETRY_MS = 10_000;

/** Writes finished work in groups. */
export class Committer {
  private waiting: Waiting[] = [];
  private inFlight = 0;
  /** A group is to be written after whatever finishes in this moment. */
  private gathering = false;
  private idle: (() => void)[] = [];
  private stopped = false;
  /** Works that the server does not accept, and that are tried by themselves. */
  private refused = 0;
  private writtenWorks = 0;
  private unwrittenBytes = 0;

  private readonly writer: GroupWriter;

  constructor(
    private readonly parts: WorkerParts,
    links: CommitLinks,
    wakeups: Wakeups,
    private readonly slots: Slots,
    private readonly held: HeldWork,
    immediate: ImmediateClaims,
    private readonly announcer: Announcer,
  ) {
    this.writer = new GroupWriter(parts, links, wakeups, immediate, held);
  }

  /** How much waits to be written. */
  get backlog(): number {
    return this.waiting.length + this.refused;
  }

  /** About how long the values are that wait to be written, or are being written. */
  get backlogBytes(): number {
    return this.unwrittenBytes;
  }

  /** How many works have been written since the start. */
  get written(): number {
    return this.writtenWorks;
  }

  /** Resolves when the work is written, or lost. Never rejects: what cannot be written now is tried until the worker ends. */
  submit(work: FinishedWork): Promise<CommitResult> {
    return new Promise((resolve) => this.add(work, resolve));
  }

  /**
   * The same for work whose outcome nobody waits for. Under load a thousand finished tasks wait here, and the garbage collector copies
   * whatever belongs to each of them.
   */
  add(work: FinishedWork, resolve?: (result: CommitResult) => void): void {
    const bytes = sizeOf(work);
    this.unwrittenBytes += bytes;
    this.waiting.push({ work, bytes, resolve });
    const isFull = this.waiting.length >= FULL_GROUP;
    if (!this.isWorthCommit(this.inFlight) || (this.gathering && !isFull)) return;
    // What is held may finish in the same moment.
    if (!isFull && this.held.size > this.waiting.length) void this.gather();
    else void this.run();
  }

  /** Deletes the rows of claims whose items have all been written or given back. */
  deleteSpentClaims(): void {
    if (this.inFlight === 0 && !this.gathering && this.hasSpent) void this.gather();
  }

  /** Resolves when nothing waits any more, or after this long: the database may be away. */
  async drained(withinMs: number): Promise<void> {
    if (this.isIdle) return;
    await within(new Promise<void>((resolve) => this.idle.push(resolve)), withinMs, this.parts.runtime);
  }

  /** From now on nothing is written: this worker was declared dead, or gave its work back. */
  stop(): void {
    this.stopped = true;
    this.writer.stop();
  }

  private async gather(): Promise<void> {
    this.gathering = true;
    await nextTick(this.parts.runtime);
    this.gathering = false;
    await this.run();
  }

  private async run(): Promise<void> {
    this.inFlight++;
    for (;;) {
      const others = this.inFlight - 1;
      if (this.isWorthCommit(others)) {
        await this.write(this.waiting.splice(0, groupSize(this.waiting)));
      } else if (others === 0 && this.hasSpent) {
        // The rows of claims that could be deleted with no other write.
        await this.write([]);
      } else break;
    }
    this.inFlight--;
    this.resolveIdle();
  }

  // Once nothing is written here any more, they go with what is given back.
  private get hasSpent(): boolean {
    return !this.stopped && this.held.hasSpent;
  }

  private get isIdle(): boolean {
    return this.inFlight + this.refused === 0 && !this.gathering;
  }

  private resolveIdle(): void {
    if (!this.isIdle) return;
    for (const resolve of this.idle.splice(0)) resolve();
  }

  // While another commit is in flight, only what makes a group by itself.
  private isWorthCommit(others: number): boolean {
    return others === 0 ? this.waiting.length > 0 : others < IN_FLIGHT && this.waiting.length >= SECOND_GROUP;
  }

  private async write(group: readonly Waiting[]): Promise<void> {
    const works = group.map(({ work }) => work);
    const items: HeldItem[] = [];
    const steps: HeldItem[] = [];
    for (const work of works) {
      // An iterator for each of them would be garbage.
      if (work.items.length === 1) items.push(work.items[0]);
      else items.push(...work.items);
      if (work.steps) steps.push(...work.steps);
    }
    const ending = this.held.begin(items);
    const emptied = this.held.emptiedBy(steps);
    const results = await this.writer.write(works, ending.claims, emptied);
    // Nearly always.
    if (results.every(isWritten)) return this.finish(group, works, results, ending);
    let written: Ending = ending;
    group.forEach((entry, n) => {
      const result = results[n];
      if (isWritten(result)) return;
      const [rest, later] = this.held.split(written, entry.work.items);
      written = rest;
      void this.writeLater(entry, later, result);
    });
    const isDone = (_: unknown, n: number) => isWritten(results[n]);
    this.finish(group.filter(isDone), works.filter(isDone), results.filter(isWritten), written);
  }

  private finish(group: readonly Waiting[], works: readonly FinishedWork[], results: readonly CommitResult[], ending: Ending): void {
    if (!this.stopped) this.held.finish(ending);
    this.writtenWorks += works.length;
    this.announcer.written(works, results);
    // What waits to be written keeps new work out, and some of it is written now.
    this.slots.roomFreed();
    group.forEach((entry, n) => {
      this.unwrittenBytes -= entry.bytes;
      entry.resolve?.(results[n]);
    });
  }

  // Tried again, less and less often, while others are written. Its claim stays, so that it is found if the worker dies.
  private async writeLater(entry: Waiting, ending: Ending, refusal: NotAccepted): Promise<void> {
    this.refused++;
    let result: Written = refusal;
    for (let delay = RETRY_MS; !isWritten(result); delay = Math.min(2 * delay, LONGEST_RETRY_MS)) {
      void this.noteRefused(entry.work.items[0] ?? entry.work.run, result.error);
      await sleep(this.parts.runtime, delay);
      result = await this.writer.writeAlone(entry.work, result.certain);
    }
    this.finish([entry], [entry.work], [result], ending);
    this.refused--;
    this.resolveIdle();
    this.deleteSpentClaims();
  }

  // The log and the note of the execution tell that it is tried again.
  private async noteRefused(item: HeldItem, error: unknown): Promise<void> {
    this.problem(`commit of ${item.id}, which is tried separately`, error);
    const { code, message } = error as { code?: string; message?: string };
    const note = `The database does not accept the result of this execution: ${message} (${code ?? 'no reply'}). It is tried again until it does.`;
    await noteExecution(this.parts.store.db, item, note).catch((failure) => this.problem(`note on ${item.id}`, failure));
  }

  private problem(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'problem', where, error });
  }
}
