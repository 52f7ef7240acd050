// Group commit: finished work gathers while a commit is in flight, and the next commit writes all of it in one statement.

import {
  type CommitOutcome,
  commitWork,
  type ImmediateClaim,
  isDatabaseError,
  isRetryable,
  noteExecution,
  putOffItems,
  type Runner,
  type WorkCommit,
} from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { Bells } from '../loops/bells.js';
import { nextTick, sleep, type Timer } from '../runtime.js';
import type { Ending, HeldItem, HeldWork } from '../work/held-work.js';
import type { Slots } from '../work/slots.js';
import type { Announcer } from './announcer.js';
import { isRefusal, mayBeOneWork } from './commit-errors.js';
import { CommitGroup, groupSize } from './commit-group.js';
import { type CommitResult, type FinishedWork, failedWork, nothingToWrite } from './finished-work.js';
import type { ImmediateClaims } from './immediate-claims.js';

/** The server does not accept a work now; it is tried by itself from then on. */
interface NotAccepted {
  error: unknown;
  certain: boolean;
}

type Written = CommitResult | NotAccepted;

const isWritten = (result: Written): result is CommitResult => 'turn' in result;

interface Waiting {
  work: FinishedWork;
  resolve(result: CommitResult): void;
}

// While much is finished, the next commit is queued behind the one that is being written, on the same connection, so that the
// database does not wait for Node to read the last reply: drain of noop tasks 57k → 63k per second, steps 18.0k → 19.6k.
const IN_FLIGHT = 2;
const SECOND_GROUP = 100;
const RETRY_MS = 250;
// How often a work that is alone in its group is tried before the others go on without it.
const ALONE_TRIES = 3;
const LATER_MS = 10_000;
// A person may repair in the meantime what keeps an end from being written; more often would only fill the log.
const UNWRITABLE_MS = 60_000;
// After a group in which a fence was lost, this many groups are written as checked commits at once: losers come in swarms (a flood
// of signals to one run), and each optimistic commit that fails is a second statement and a line in the server's log.
const CHECKED_GROUPS = 16;

const NOT_WRITTEN: CommitResult = { task: false, turn: false, certain: false, fence: 0, claimedAtOnce: [] };

/** The connections that a committer writes on. */
export interface CommitLinks {
  /** For the groups. */
  main: Runner;
  /** For what would hold up the rest. */
  aside: Runner;
}

/** Writes finished work in groups. */
export class Committer {
  private waiting: Waiting[] = [];
  private inFlight = 0;
  private idle: (() => void)[] = [];
  private stopped = false;
  private checkedGroups = 0;
  /** Works that the server does not accept, and that are tried by themselves. */
  private refused = 0;
  private writtenWorks = 0;

  constructor(
    private readonly parts: WorkerParts,
    private readonly links: CommitLinks,
    private readonly bells: Bells,
    private readonly slots: Slots,
    private readonly held: HeldWork,
    private readonly immediate: ImmediateClaims,
    private readonly announcer: Announcer,
  ) {}

  /** How much waits to be written. */
  get backlog(): number {
    return this.waiting.length + this.refused;
  }

  /** How many works have been written since the start. */
  get written(): number {
    return this.writtenWorks;
  }

  /** Resolves when the work is written, or lost. Never rejects: what cannot be written now is tried until the worker ends. */
  submit(work: FinishedWork): Promise<CommitResult> {
    return new Promise((resolve) => {
      this.waiting.push({ work, resolve });
      if (this.isWorthCommit(this.inFlight)) void this.run();
    });
  }

  /** Deletes the rows of claims whose items have all been written or given back. */
  deleteSpentClaims(): void {
    if (this.inFlight === 0 && this.held.hasSpent) void this.run();
  }

  /** Resolves when nothing waits any more, or after this long: the database may be away. */
  async drained(withinMs: number): Promise<void> {
    if (this.inFlight + this.refused === 0) return;
    let late: Timer | undefined;
    await new Promise<void>((resolve) => {
      this.idle.push(resolve);
      late = this.parts.runtime.setTimer(withinMs, resolve);
    });
    late?.cancel();
  }

  /** From now on nothing is written: this worker was declared dead, or gave its work back. */
  stop(): void {
    this.stopped = true;
  }

  private async run(): Promise<void> {
    this.inFlight++;
    // Whatever finishes in the same moment joins the first group, if there is anything left that could.
    if (this.held.size > this.waiting.length) await nextTick(this.parts.runtime);
    for (;;) {
      const others = this.inFlight - 1;
      if (this.isWorthCommit(others)) {
        await this.write(this.waiting.splice(0, groupSize(this.waiting)));
      } else if (others === 0 && this.held.hasSpent) {
        // The rows of claims that could be deleted with no other write.
        await this.write([]);
      } else break;
    }
    this.inFlight--;
    this.resolveIdle();
  }

  private resolveIdle(): void {
    if (this.inFlight + this.refused > 0) return;
    for (const resolve of this.idle.splice(0)) resolve();
  }

  // While another commit is in flight, only what makes a group by itself.
  private isWorthCommit(others: number): boolean {
    return others === 0 ? this.waiting.length > 0 : others < IN_FLIGHT && this.waiting.length >= SECOND_GROUP;
  }

  private async write(group: readonly Waiting[]): Promise<void> {
    const works = group.map((entry) => entry.work);
    const ending = this.held.begin(works.flatMap((work) => work.items));
    const results = await this.writeGroup(works, ending.claims, true);
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
      entry.resolve(results[n]);
    });
  }

  private async writeGroup(works: readonly FinishedWork[], claims: readonly string[], certain: boolean): Promise<Written[]> {
    let sure = certain;
    for (let tries = 1; ; tries++) {
      if (this.stopped) return works.map(() => NOT_WRITTEN);
      try {
        return await this.writeOnce(this.links.main, works, claims, sure);
      } catch (error) {
        if (isRetryable(error)) continue;
        if (works.length > 0 && isRefusal(error)) return this.writeEach(works, claims, sure, error);
        this.problem('commit', error);
        sure &&= isDatabaseError(error);
        const results = works.length > 0 && mayBeOneWork(error) ? await this.writeApart(works, tries, { error, certain: sure }) : undefined;
        if (results) {
          await this.endClaims(claims, works, results);
          return results;
        }
        await sleep(this.parts.runtime, RETRY_MS);
      }
    }
  }

  // A data error names no row: each is written by itself then, and only the work with the bad value fails, with its own error.
  private async writeEach(works: readonly FinishedWork[], claims: readonly string[], certain: boolean, error: unknown): Promise<Written[]> {
    if (works.length === 1) {
      this.problem(`commit of ${works[0].items[0]?.id ?? 'an execution'}`, error);
      const results = await this.writeGroup([await this.simpler(works[0], error)], claims, certain);
      return results.map((result) => (isWritten(result) ? { ...result, refused: true } : result));
    }
    const results: Written[] = [];
    for (const work of works) results.push(...(await this.writeGroup([work], [], certain)));
    await this.endClaims(claims, works, results);
    return results;
  }

  // What to write in place of values that the database refuses. Of a fused step that is the task alone: its parent reads the result
  // from its inbox. Of a failure it is nothing; but its claim must not simply end, or the run would be held by nobody. It is put off
  // first, and tried again.
  private async simpler(work: FinishedWork, error: unknown): Promise<FinishedWork> {
    const { items, task, turn } = work;
    const [item] = items;
    if (task && turn) return { items, task };
    if (!work.isLastResort && (task || turn)) return failedWork(item, error);
    if (task || turn) await this.putOff(item);
    return nothingToWrite(item);
  }

  private async putOff(item: HeldItem): Promise<void> {
    const { store, workerId, runtime } = this.parts;
    while (!this.stopped) {
      try {
        await putOffItems(store.db, workerId, [item], [], UNWRITABLE_MS);
        return this.bells.timers.ringWithin(UNWRITABLE_MS);
      } catch (error) {
        this.problem('give back', error);
        await sleep(runtime, RETRY_MS);
      }
    }
  }

  // After works that were written by themselves. The row of a claim stays until all of its items are written.
  private async endClaims(claims: readonly string[], works: readonly FinishedWork[], results: readonly Written[]): Promise<void> {
    const kept = new Set(works.flatMap(({ items }, n) => (isWritten(results[n]) ? [] : items.map((item) => item.claimId))));
    const done = claims.filter((claimId) => !kept.has(claimId));
    if (done.length > 0) await this.writeGroup([], done, true);
  }

  // The server cancels or refuses a statement, and the reason may lie in one of the works: too large for the time or the memory
  // that it is allowed, or in need of a row that somebody keeps locked. Two of them are tried by themselves. If neither can be
  // written the problem is not theirs, and the group is tried again as it is. Otherwise each is written by itself, and the others
  // do not wait for the one that cannot be.
  private async writeApart(works: readonly FinishedWork[], tries: number, refusal: NotAccepted): Promise<Written[] | undefined> {
    if (works.length === 1) return tries < ALONE_TRIES ? undefined : [refusal];
    const results = new Map<number, Written>();
    const tryAlone = async (n: number) => results.set(n, await this.writeAlone(works[n], refusal.certain));
    const first = Math.floor(this.parts.runtime.random() * works.length);
    await tryAlone(first);
    await tryAlone((first + 1) % works.length);
    if (![...results.values()].some(isWritten)) return undefined;
    for (let n = 0; n < works.length; n++) if (!results.has(n)) await tryAlone(n);
    return works.map((_, n) => results.get(n) as Written);
  }

  // On a connection of its own: what the server takes long to refuse must not hold up the rest.
  private async writeAlone(work: FinishedWork, certain: boolean): Promise<Written> {
    for (;;) {
      if (this.stopped) return NOT_WRITTEN;
      try {
        return (await this.writeOnce(this.links.aside, [work], [], certain))[0];
      } catch (error) {
        if (isRetryable(error)) continue;
        if (isRefusal(error)) return (await this.writeEach([work], [], certain, error))[0];
        return { error, certain: certain && isDatabaseError(error) };
      }
    }
  }

  // Tried again, less and less often, while others are written. Its claim stays, so that it is found if the worker dies.
  private async writeLater(entry: Waiting, ending: Ending, refusal: NotAccepted): Promise<void> {
    this.refused++;
    let result: Written = refusal;
    for (let delay = RETRY_MS; !isWritten(result); delay = Math.min(2 * delay, LATER_MS)) {
      void this.noteRefused(entry.work.items[0], result.error);
      await sleep(this.parts.runtime, delay);
      result = await this.writeAlone(entry.work, result.certain);
    }
    this.finish([entry], [entry.work], [result], ending);
    this.refused--;
    this.resolveIdle();
    this.deleteSpentClaims();
  }

  // The log and the execution itself say that it is tried again.
  private async noteRefused(item: HeldItem, error: unknown): Promise<void> {
    this.problem(`commit of ${item.id}, which is tried by itself`, error);
    const { code, message } = error as { code?: string; message?: string };
    const note = `The database does not accept the result of this execution: ${message} (${code ?? 'no reply'}). It is tried again until it does.`;
    await noteExecution(this.parts.store.db, item, note).catch((failure) => this.problem(`note on ${item.id}`, failure));
  }

  private async writeOnce(
    db: Runner,
    works: readonly FinishedWork[],
    claims: readonly string[],
    certain: boolean,
  ): Promise<CommitResult[]> {
    const group = new CommitGroup(works);
    const { tasks, turns } = group;
    const optimistic = this.checkedGroups === 0;
    const { outcome, claimed } = await this.writeWithChildren(db, { workerId: this.parts.workerId, tasks, turns, claims, optimistic });
    const lost = outcome.turns.includes(false) || outcome.tasks.includes(false);
    this.checkedGroups = lost ? CHECKED_GROUPS : Math.max(0, this.checkedGroups - 1);
    return group.resultsOf(outcome, claimed, certain);
  }

  // Children that this worker can run now are claimed in the commit that makes them, and never pass through the queue.
  private async writeWithChildren(db: Runner, work: WorkCommit): Promise<{ outcome: CommitOutcome; claimed: HeldItem[][] }> {
    const immediate: ImmediateClaim | undefined = work.turns.length > 0 ? this.immediate.choose(work.turns) : undefined;
    if (!immediate) return { outcome: await commitWork(db, work), claimed: [] };
    try {
      const outcome = await commitWork(db, { ...work, immediate });
      return { outcome, claimed: this.immediate.take(immediate, work.turns, outcome) };
    } catch (error) {
      this.immediate.uncertain(immediate);
      throw error;
    }
  }

  private problem(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'problem', where, error });
  }
}
