// Writes one group of finished work, however the server responds: at once, each by itself, or something simpler in its place.

import {
  type CommitOutcome,
  commitWork,
  isDatabaseError,
  isRetryable,
  putOffItems,
  type Runner,
  type StandingClaim,
  type WorkCommit,
} from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import type { Wakeups } from '../loops/wakeups.js';
import { sleep } from '../runtime.js';
import type { HeldItem, HeldWork } from '../work/held-work.js';
import { isRefusal, mayBeOneWork } from './commit-errors.js';
import { CommitGroup } from './commit-group.js';
import { type CommitResult, type FinishedWork, failedWork, nothingToWrite } from './finished-work.js';
import type { ImmediateClaims } from './immediate-claims.js';

/** The server does not accept a work now; it is tried separately from then on. */
export interface NotAccepted {
  error: unknown;
  certain: boolean;
}

export type Written = CommitResult | NotAccepted;

export const isWritten = (result: Written): result is CommitResult => 'turn' in result;

/** The connections that groups are written on. */
export interface CommitLinks {
  /** For the groups. */
  main: Runner;
  /** For single works that would hold up the rest. */
  separate: Runner;
}

export const RETRY_MS = 250;
// How often a work that is alone in its group is tried before the others go on without it.
const ALONE_TRIES = 3;
// Somebody may repair in the meantime what keeps an end from being written; more tries would only fill the log.
const UNWRITABLE_MS = 60_000;
// After a group in which a fence was lost, this many groups are written as checked commits at once: losers come in large numbers (a flood
// of signals to one run), and each optimistic commit that fails is a second statement and a line in the server's log.
const CHECKED_GROUPS = 16;

const NONE: readonly string[] = [];
const NOT_WRITTEN: CommitResult = { task: false, turn: false, certain: false, fence: 0, claimedAtOnce: [] };

export class GroupWriter {
  private stopped = false;
  private checkedGroups = 0;

  constructor(
    private readonly parts: WorkerParts,
    private readonly links: CommitLinks,
    private readonly wakeups: Wakeups,
    private readonly immediate: ImmediateClaims,
    private readonly held: HeldWork,
  ) {}

  /** From now on nothing is written. */
  stop(): void {
    this.stopped = true;
  }

  /**
   * Writes a group and deletes these claims with it; those of `claimsIfWon` only if every work is written at once. Tried until the
   * server has decided about each work, or the worker ends.
   */
  async write(
    works: readonly FinishedWork[],
    claims: readonly string[],
    claimsIfWon: readonly string[] = NONE,
    certain = true,
  ): Promise<Written[]> {
    let isCertain = certain;
    for (let tries = 1; ; tries++) {
      if (this.stopped) return works.map(() => NOT_WRITTEN);
      try {
        return await this.writeOnce(this.links.main, works, claims, claimsIfWon, isCertain);
      } catch (error) {
        if (isRetryable(error)) continue;
        if (works.length > 0 && isRefusal(error)) return this.writeEach(works, claims, isCertain, error);
        this.problem('commit', error);
        isCertain &&= isDatabaseError(error);
        const results =
          works.length > 0 && mayBeOneWork(error) ? await this.writeApart(works, tries, { error, certain: isCertain }) : undefined;
        if (results) {
          await this.endClaims(claims, works, results);
          return results;
        }
        await sleep(this.parts.runtime, RETRY_MS);
      }
    }
  }

  // A data error does not name the row, so each work is written by itself, and only the one with the bad value fails, with its own error.
  private async writeEach(works: readonly FinishedWork[], claims: readonly string[], certain: boolean, error: unknown): Promise<Written[]> {
    if (works.length === 1) {
      this.problem(`commit of ${works[0].items[0]?.id ?? 'an execution'}`, error);
      const fallback = await this.fallbackFor(works[0], error);
      const results = await this.write([fallback], claims, NONE, certain);
      return results.map((result) => (isWritten(result) ? { ...result, instead: result.instead ?? fallback } : result));
    }
    const results: Written[] = [];
    for (const work of works) results.push(...(await this.write([work], NONE, NONE, certain)));
    await this.endClaims(claims, works, results);
    return results;
  }

  // What to write in place of values that the database refuses. Of a fused step that is the task alone: its parent reads the result
  // from its inbox. Of a failure it is nothing; but its claim must not simply end, or no worker would have the run. It is put off
  // first, and tried again.
  private async fallbackFor(work: FinishedWork, error: unknown): Promise<FinishedWork> {
    const { items, task, turn } = work;
    const [item] = items;
    // The end of a step in place: it gets a row, and its result is written there.
    if (!item) return { items };
    if (task && turn) return { items, task };
    if (!work.isLastResort && (task || turn)) return failedWork(item, error);
    if (task || turn) await this.putOff(item);
    return nothingToWrite(item);
  }

  private async putOff(item: HeldItem): Promise<void> {
    const { store, workerId, runtime } = this.parts;
    while (!this.stopped) {
      try {
        await putOffItems(store.db, workerId, [item], [], UNWRITABLE_MS, runtime.newFence());
        return this.wakeups.timers.scheduled(UNWRITABLE_MS);
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
    if (done.length > 0) await this.write([], done);
  }

  // The server cancels or refuses a statement, and the reason may lie in one of the works: too large for the time or the memory
  // that it is allowed, or in need of a row that another transaction keeps locked. Two of them are tried by themselves. If neither can be
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

  /** Writes one work separately, on a connection of its own: what the server takes long to refuse must not hold up the rest. */
  async writeAlone(work: FinishedWork, certain: boolean): Promise<Written> {
    for (;;) {
      if (this.stopped) return NOT_WRITTEN;
      try {
        return (await this.writeOnce(this.links.separate, [work], NONE, NONE, certain))[0];
      } catch (error) {
        if (isRetryable(error)) continue;
        if (isRefusal(error)) return (await this.writeEach([work], [], certain, error))[0];
        return { error, certain: certain && isDatabaseError(error) };
      }
    }
  }

  private async writeOnce(
    db: Runner,
    works: readonly FinishedWork[],
    claims: readonly string[],
    claimsIfWon: readonly string[],
    certain: boolean,
  ): Promise<CommitResult[]> {
    const group = new CommitGroup(works);
    const { tasks, turns } = group;
    const { workerId, runtime } = this.parts;
    const optimistic = this.checkedGroups === 0;
    const standing = this.standingClaim(group, works);
    const work = { workerId, tasks, turns, claims, claimsIfWon, standing, optimistic, fence: runtime.newFence() };
    const { outcome, claimed } = await this.writeWithChildren(db, work);
    if (standing) this.openStanding(standing, group, works, outcome);
    if (outcome.allWon) this.held.closeClaims(claimsIfWon);
    const lost = outcome.turns.includes(false) || outcome.tasks.includes(false);
    this.checkedGroups = lost ? CHECKED_GROUPS : Math.max(0, this.checkedGroups - 1);
    return group.resultsOf(outcome, claimed, certain);
  }

  // Children that this worker can run now are claimed in the commit that makes them, and never pass through the queue.
  private async writeWithChildren(db: Runner, work: WorkCommit): Promise<{ outcome: CommitOutcome; claimed: HeldItem[][] }> {
    const immediate = work.turns.length > 0 ? this.immediate.choose(work.turns) : undefined;
    try {
      if (!immediate) return { outcome: await commitWork(db, work), claimed: [] };
      const outcome = await commitWork(db, { ...work, immediate });
      return { outcome, claimed: this.immediate.take(immediate, work.turns, outcome) };
    } catch (error) {
      if (immediate) this.immediate.uncertain(immediate);
      if (work.standing) {
        this.held.forgetClaim(work.standing.claimId);
        this.wakeups.heartbeats.trigger();
      }
      throw error;
    }
  }

  // Runs whose first steps in place begin with these turns share one claim.
  private standingClaim(group: CommitGroup, works: readonly FinishedWork[]): StandingClaim | undefined {
    const turns = group.turnsOf(works, ({ chosen }) => chosen !== undefined && chosen.claimId === undefined);
    if (turns.length === 0) return undefined;
    const claimId = this.parts.runtime.newId();
    this.held.expectClaim(claimId);
    return { claimId, turns };
  }

  private openStanding(
    { claimId, turns }: StandingClaim,
    group: CommitGroup,
    works: readonly FinishedWork[],
    outcome: CommitOutcome,
  ): void {
    let steps = 0;
    for (const n of turns) {
      const chosen = outcome.turns[n] ? works[group.workOf(n)].chosen : undefined;
      if (!chosen) continue;
      chosen.claimId = claimId;
      steps += chosen.items.length;
    }
    this.held.openClaim(claimId, steps);
  }

  private problem(where: string, error: unknown): void {
    this.parts.events.emit({ type: 'problem', where, error });
  }
}
