// Group commit: while a commit is in flight finished work gathers, and the next takes it all in one statement.

import {
  type CommitOutcome,
  commitWork,
  type EagerClaim,
  isDatabaseError,
  isRetryable,
  type Runner,
  type TaskCommit,
  type TurnCommit,
  type WorkCommit,
} from '../../libs/store/index.js';
import type { EngineEvents } from './engine-events.js';
import type { Ending, HeldItem, HeldWork } from './held-work.js';

/** Finished work that is written together: a task, a turn, or a task fused with the turn of its parent. */
export interface FinishedWork {
  /** The held items that end with it. */
  items: readonly HeldItem[];
  task?: TaskCommit;
  turn?: TurnCommit;
  /** The run of the turn; absent when it is the held item itself. */
  run?: HeldItem;
  /** Makes the failure of this very work, for when its values cannot be written. */
  refused(error: unknown): FinishedWork | Promise<FinishedWork>;
}

/** What became of it. `won`: written. `lost`: somebody else has the execution; drop everything. */
export interface CommitResult {
  task: boolean;
  turn: boolean;
  /** False after a write of unknown outcome: `lost` may mean that the first try had succeeded. */
  certain: boolean;
  /** Where those that won are now. */
  fence: number;
  /** The values were refused, and what was written is their failure. */
  refused?: boolean;
}

/** What the worker does around a commit. */
export interface CommitHooks {
  /** Told after every group, with what was written. */
  written(works: readonly FinishedWork[], results: readonly CommitResult[]): void;
  /** Chooses the children that this worker takes at once. */
  choose(turns: readonly TurnCommit[]): EagerClaim | undefined;
  /** The children that were chosen are ours: those of turns that won. */
  taken(eager: EagerClaim, turns: readonly TurnCommit[], outcome: CommitOutcome): void;
  /** The server did not take a work once more; it is tried again later, by itself. */
  refused(work: FinishedWork, error: unknown): void;
  /** The choice may or may not have been written; the claim is found among the worker's own if it was. */
  doubt(eager: EagerClaim): void;
}

/** The server does not take a work now; it is tried by itself from then on. */
interface NotTaken {
  error: unknown;
  certain: boolean;
}

type Written = CommitResult | NotTaken;

const isWritten = (result: Written): result is CommitResult => 'turn' in result;

interface Waiting {
  work: FinishedWork;
  resolve(result: CommitResult): void;
}

// While much is finished, the next commit stands behind the one that is being written, on the same connection, so that the
// database does not wait for Node to hear of the last: drain of noop tasks 57k → 63k per second, steps 18.0k → 19.6k.
const IN_FLIGHT = 2;
const SECOND_GROUP = 100;
const MAX_UNITS = 500;
const MAX_ROWS = 5_000;
const MAX_BYTES = 4 * 1024 * 1024;
const RETRY_MS = 250;
// How often a work that is alone in its group is tried before the line goes on without it.
const ALONE_TRIES = 3;
const LATER_MS = 10_000;
// After a group in which somebody lost its fence, so many are written the careful way at once: losers come in swarms (a flood of
// signals to one run), and each hope that fails is a second statement and a line in the server's log.
const CAREFUL_GROUPS = 16;

const NOT_WRITTEN: CommitResult = { task: false, turn: false, certain: false, fence: 0 };

/** Writes finished work in groups. */
export class Committer {
  private waiting: Waiting[] = [];
  private inFlight = 0;
  private idle: (() => void)[] = [];
  private stopped = false;
  private careful = 0;
  /** Works that the server does not take, and that are tried by themselves. */
  private refused = 0;

  constructor(
    private readonly db: Runner,
    /** Another connection, for what would hold up the rest. */
    private readonly aside: Runner,
    private readonly workerId: string,
    private readonly held: HeldWork,
    private readonly events: EngineEvents,
    private readonly hooks: CommitHooks,
  ) {}

  /** How much waits to be written. */
  get backlog(): number {
    return this.waiting.length + this.refused;
  }

  /** Resolves when the work is written, or lost. Never rejects: what cannot be written now is tried until the worker ends. */
  submit(work: FinishedWork): Promise<CommitResult> {
    return new Promise((resolve) => {
      this.waiting.push({ work, resolve });
      if (this.isWorthCommit(this.inFlight)) void this.run();
    });
  }

  /** Takes away the rows of claims of which everything has been written or given back. */
  tidy(): void {
    if (this.inFlight === 0 && this.held.hasSpent) void this.run();
  }

  /** Resolves when nothing waits any more, or after this long: the database may be away. */
  async drained(withinMs: number): Promise<void> {
    if (this.inFlight + this.refused === 0) return;
    let late: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.idle.push(resolve);
      late = setTimeout(resolve, withinMs);
    });
    clearTimeout(late);
  }

  /** From now on nothing is written: this worker was declared dead, or gave its work back. */
  stop(): void {
    this.stopped = true;
  }

  private async run(): Promise<void> {
    this.inFlight++;
    // Whatever finishes in the same moment joins the first group, if there is anything left that could.
    if (this.held.size > this.waiting.length) await new Promise((resolve) => setImmediate(resolve));
    for (;;) {
      const others = this.inFlight - 1;
      if (this.isWorthCommit(others)) {
        await this.write(this.nextGroup());
      } else if (others === 0 && this.held.hasSpent) {
        // The rows of claims that could go with no other write.
        await this.write([]);
      } else break;
    }
    this.inFlight--;
    this.rest();
  }

  private rest(): void {
    if (this.inFlight + this.refused > 0) return;
    for (const resolve of this.idle.splice(0)) resolve();
  }

  // Beside one that is on its way, only what makes a group by itself.
  private isWorthCommit(others: number): boolean {
    return others === 0 ? this.waiting.length > 0 : others < IN_FLIGHT && this.waiting.length >= SECOND_GROUP;
  }

  private nextGroup(): Waiting[] {
    let rows = 0;
    let bytes = 0;
    let count = 0;
    const runs = new Set<string>();
    const asked = new Set<string>();
    for (const { work } of this.waiting) {
      // A turn may take over a child with an id of its own; one statement cannot write the same row for both of them.
      const own = work.turn ? ownIds(work.turn) : [];
      if (work.turn && (asked.has(work.turn.id) || own.some((id) => runs.has(id)))) break;
      rows += 1 + (work.turn ? work.turn.children.length + work.turn.events.length : 0);
      bytes += sizeOf(work);
      if (count > 0 && (count >= MAX_UNITS || rows > MAX_ROWS || bytes > MAX_BYTES)) break;
      count++;
      if (work.turn) runs.add(work.turn.id);
      for (const id of own) asked.add(id);
    }
    return this.waiting.splice(0, count);
  }

  private async write(group: readonly Waiting[]): Promise<void> {
    const works = group.map((entry) => entry.work);
    const ending = this.held.begin(works.flatMap((work) => work.items));
    const results = await this.writeGroup(works, ending.claims, true);
    // Nearly always.
    if (results.every(isWritten)) return this.tell(group, works, results, ending);
    let written: Ending = ending;
    group.forEach((entry, n) => {
      const result = results[n];
      if (isWritten(result)) return;
      const [rest, later] = this.held.split(written, entry.work.items);
      written = rest;
      void this.writeLater(entry, later, result);
    });
    const isDone = (_: unknown, n: number) => isWritten(results[n]);
    this.tell(group.filter(isDone), works.filter(isDone), results.filter(isWritten), written);
  }

  private tell(group: readonly Waiting[], works: readonly FinishedWork[], results: readonly CommitResult[], ending: Ending): void {
    if (!this.stopped) this.held.finish(ending);
    this.hooks.written(works, results);
    group.forEach((entry, n) => {
      entry.resolve(results[n]);
    });
  }

  private async writeGroup(works: readonly FinishedWork[], claims: readonly string[], certain: boolean): Promise<Written[]> {
    let sure = certain;
    for (let tries = 1; ; tries++) {
      if (this.stopped) return works.map(() => NOT_WRITTEN);
      try {
        return await this.writeOnce(this.db, works, claims, sure);
      } catch (error) {
        if (isRetryable(error)) continue;
        if (works.length > 0 && isRefusal(error)) return this.writeEach(works, claims, sure, error);
        this.events.emit({ type: 'trouble', where: 'commit', error });
        sure &&= isDatabaseError(error);
        const parted = works.length > 0 && isOneWorks(error) ? await this.part(works, tries, { error, certain: sure }) : undefined;
        if (parted) {
          await this.endClaims(claims, works, parted);
          return parted;
        }
        await pause(RETRY_MS);
      }
    }
  }

  // A data error names no row: each is written by itself then, and only the offender fails, with its own error.
  private async writeEach(works: readonly FinishedWork[], claims: readonly string[], certain: boolean, error: unknown): Promise<Written[]> {
    if (works.length === 1) {
      this.events.emit({ type: 'trouble', where: `commit of ${works[0].items[0]?.id ?? 'an execution'}`, error });
      const results = await this.writeGroup([await works[0].refused(error)], claims, certain);
      return results.map((result) => (isWritten(result) ? { ...result, refused: true } : result));
    }
    const results: Written[] = [];
    for (const work of works) results.push(...(await this.writeGroup([work], [], certain)));
    await this.endClaims(claims, works, results);
    return results;
  }

  // After works that were written by themselves. The row of a claim stays until all of its items are written.
  private async endClaims(claims: readonly string[], works: readonly FinishedWork[], results: readonly Written[]): Promise<void> {
    const kept = new Set(works.flatMap(({ items }, n) => (isWritten(results[n]) ? [] : items.map((item) => item.claimId))));
    const done = claims.filter((claimId) => !kept.has(claimId));
    if (done.length > 0) await this.writeGroup([], done, true);
  }

  // The server cancels or refuses a statement, and the reason may lie in one of the works: too large for the time or the memory
  // that it is allowed, or in want of a row that somebody keeps locked. Two of them are tried by themselves. If neither can be
  // written it is everybody's trouble, and the group is tried again as it is. Otherwise each is written by itself, and the
  // others do not wait for the one that cannot be.
  private async part(works: readonly FinishedWork[], tries: number, trouble: NotTaken): Promise<Written[] | undefined> {
    if (works.length === 1) return tries < ALONE_TRIES ? undefined : [trouble];
    const results = new Map<number, Written>();
    const tryAlone = async (n: number) => results.set(n, await this.writeAlone(works[n], trouble.certain));
    const first = Math.floor(Math.random() * works.length);
    await tryAlone(first);
    await tryAlone((first + 1) % works.length);
    if (![...results.values()].some(isWritten)) return undefined;
    for (let n = 0; n < works.length; n++) if (!results.has(n)) await tryAlone(n);
    return works.map((_, n) => results.get(n) as Written);
  }

  // On a connection of its own: what the server takes long to refuse must not hold up the line.
  private async writeAlone(work: FinishedWork, certain: boolean): Promise<Written> {
    for (;;) {
      if (this.stopped) return NOT_WRITTEN;
      try {
        return (await this.writeOnce(this.aside, [work], [], certain))[0];
      } catch (error) {
        if (isRetryable(error)) continue;
        if (isRefusal(error)) return (await this.writeEach([work], [], certain, error))[0];
        return { error, certain: certain && isDatabaseError(error) };
      }
    }
  }

  // Tried again, less and less often, while others are written. Its claim stays, so that it is found if the worker dies.
  private async writeLater(entry: Waiting, ending: Ending, refusal: NotTaken): Promise<void> {
    this.refused++;
    let result: Written = refusal;
    for (let delay = RETRY_MS; !isWritten(result); delay = Math.min(2 * delay, LATER_MS)) {
      this.hooks.refused(entry.work, result.error);
      await pause(delay);
      result = await this.writeAlone(entry.work, result.certain);
    }
    if (!this.stopped) this.held.finish(ending);
    this.hooks.written([entry.work], [result]);
    entry.resolve(result);
    this.refused--;
    this.rest();
    this.tidy();
  }

  private async writeOnce(
    db: Runner,
    works: readonly FinishedWork[],
    claims: readonly string[],
    certain: boolean,
  ): Promise<CommitResult[]> {
    // Locked in one order, so that two groups rarely meet crosswise.
    const order = works.map((_, n) => n).sort((a, b) => compare(works[a], works[b]));
    const tasks: TaskCommit[] = [];
    const turns: TurnCommit[] = [];
    const places = new Map<number, { task?: number; turn?: number }>();
    for (const n of order) {
      const { task, turn } = works[n];
      const place: { task?: number; turn?: number } = {};
      if (task) place.task = tasks.push(task) - 1;
      if (turn) {
        turn.needs = place.task;
        place.turn = turns.push(turn) - 1;
      }
      places.set(n, place);
    }
    const hopeful = this.careful === 0;
    const outcome = await this.writeWithChildren(db, { workerId: this.workerId, tasks, turns, claims, hopeful });
    const lost = outcome.turns.includes(false) || outcome.tasks.includes(false);
    this.careful = lost ? CAREFUL_GROUPS : Math.max(0, this.careful - 1);
    return works.map((_, n) => {
      const { task, turn } = places.get(n) ?? {};
      return {
        task: task !== undefined && outcome.tasks[task],
        turn: turn !== undefined && outcome.turns[turn],
        certain,
        fence: outcome.fence,
      };
    });
  }

  // Eager dispatch: children that this worker can run now are born claimed, and never pass through the queue.
  private async writeWithChildren(db: Runner, work: WorkCommit): Promise<CommitOutcome> {
    const eager = work.turns.length > 0 ? this.hooks.choose(work.turns) : undefined;
    if (!eager) return commitWork(db, work);
    try {
      const outcome = await commitWork(db, { ...work, eager });
      this.hooks.taken(eager, work.turns, outcome);
      return outcome;
    } catch (error) {
      this.hooks.doubt(eager);
      throw error;
    }
  }
}

// The database is full, shutting down or short of something, or its schema or our rights are not what they should be, or the
// statement that the commit before was to prepare is not there because that one failed (26): nothing is wrong with the values,
// so nobody's work is failed or dropped for it. It is tried until that has passed.
function isPassing(code: string | undefined): boolean {
  return code !== undefined && /^(25006|26|28|3D|3F|42|53|55|57|58)/.test(code);
}

// The server answered, and the reason may lie in one work of a group. Not a statement that is not prepared: that passes by itself.
function isOneWorks(error: unknown): boolean {
  return isDatabaseError(error) && isPassing(error.code) && !error.code?.startsWith('26');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

// Something is wrong with the values: the database said so, or a number of theirs does not fit its column.
function isRefusal(error: unknown): boolean {
  return error instanceof RangeError || (isDatabaseError(error) && !isPassing(error.code));
}

function compare(a: FinishedWork, b: FinishedWork): number {
  const x = a.turn ?? a.task;
  const y = b.turn ?? b.task;
  if (!x || !y) return 0;
  return x.bucket - y.bucket || (x.id < y.id ? -1 : x.id > y.id ? 1 : 0);
}

function ownIds({ id, children }: TurnCommit): string[] {
  if (children.length === 0) return [];
  const generated = `${id}:`;
  return children.filter((child) => !child.id.startsWith(generated)).map((child) => child.id);
}

function sizeOf({ task, turn }: FinishedWork): number {
  let bytes = task?.output?.length ?? 0;
  if (turn) {
    bytes += (turn.output?.length ?? 0) + (turn.state.action === 'store' ? (turn.state.snapshot?.length ?? 0) : 0);
    for (const child of turn.children) bytes += child.input?.length ?? 0;
  }
  return bytes;
}
