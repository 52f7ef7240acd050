// Finds the durable calls that lost: whatever comes of them reaches nothing but combinators that are decided.

import { isInert } from './inert.js';
import { type Reaction, targetOf } from './promise.js';
import { type Node, pushHoldings, walk } from './reach.js';
import type { PromiseObject } from './values.js';

export interface LostCalls {
  /**
   * Waits, timers, and tasks that nobody ever looked at. Their outcome leads, through any chain of `then` and async functions,
   * only to decided combinators, and no branch that leads anywhere else can reach a promise on that way.
   */
  readonly lost: ReadonlySet<PromiseObject>;
  /** Of these, the ones whose end nobody could tell from their going on for ever, however it came. */
  readonly unobservable: ReadonlySet<PromiseObject>;
  /** How much was looked at. */
  readonly size: number;
}

const NONE: LostCalls = { lost: new Set(), unobservable: new Set(), size: 0 };

/** Of calls that are all unanswered, while nothing runs. `main` is the promise of the main body. */
export function findLostCalls(pending: ReadonlyMap<number, PromiseObject>, main: PromiseObject): LostCalls {
  for (const promise of pending.values()) if (mayBeLost(promise, main)) return new Search([...pending.values()], main).run();
  return NONE;
}

/** Hops after which the thorough search is cheaper than another try. */
const QUICK_HOPS = 8;

// Most calls are awaited by the main body or a function that it awaits, and this is asked at every await.
function mayBeLost(promise: PromiseObject, main: PromiseObject): boolean {
  if (isStep(promise)) return promise.reactions === null && !promise.handled;
  let at = promise;
  for (let hop = 0; hop < QUICK_HOPS; hop++) {
    if (at === main) return false;
    if (at.reactions === null) return isEndOfLost(at);
    const target = at.reactions.length === 1 ? targetOf(at.reactions[0]) : null;
    if (target === null) return true;
    at = target;
  }
  return true;
}

/** A task or child runs to its end whether it is of use or not. */
function isStep({ call }: PromiseObject): boolean {
  return call!.kind === 'task' || call!.kind === 'workflow';
}

/** Of a promise without a reaction that still matters: the others are of branches that were started and never raced. */
function isEndOfLost(promise: PromiseObject): boolean {
  return promise.reactions !== null || promise.call !== null || promise.raced;
}

/** A promise on the way of an outcome. */
interface Stage {
  lost: boolean;
  /** Reactions that lead to a stage which is not lost. */
  open: number;
  readonly from: { readonly promise: PromiseObject; readonly reaction: Reaction }[];
}

class Search {
  private readonly stages = new Map<PromiseObject, Stage>();
  /** Reactions whose code may touch what it holds. */
  private readonly active = new Set<Reaction>();
  private readonly seen = new Set<object>();

  constructor(
    private readonly pending: readonly PromiseObject[],
    private readonly main: PromiseObject,
  ) {}

  run(): LostCalls {
    const stages = this.explore(this.pending);
    if (!this.candidates().some(() => true)) return { ...NONE, size: this.stages.size };
    // What live branches hold is not lost.
    this.hold((push) => this.activateOpen(stages, push));
    const lost = new Set(this.candidates());
    const inert = new Set([...lost].filter((promise) => isInert(promise)));
    // What anything that may still move holds, live or lost, may be observed.
    this.hold((push) => {
      for (const promise of this.pending) if (!inert.has(promise)) this.activateAll(promise, push);
    });
    const unobservable = new Set([...inert].filter((promise) => this.stages.get(promise)!.lost));
    return { lost, unobservable, size: this.stages.size + this.seen.size };
  }

  private candidates(): PromiseObject[] {
    return this.pending.filter(
      (promise) => this.stages.get(promise)!.lost && (!isStep(promise) || (promise.reactions === null && !promise.handled)),
    );
  }

  /** Follows outcomes to their ends and decides from there which stages are lost. Returns the stages that are new. */
  private explore(starts: Iterable<PromiseObject>): PromiseObject[] {
    const added: PromiseObject[] = [];
    for (const start of starts) this.stage(start, added);
    for (let at = 0; at < added.length; at++) {
      const promise = added[at];
      const stage = this.stages.get(promise)!;
      for (const reaction of promise.reactions ?? []) {
        const target = targetOf(reaction);
        if (target === null) continue;
        const next = this.stage(target, added);
        next.from.push({ promise, reaction });
        if (!next.lost) stage.open++;
      }
    }
    // From the ends backwards: a circle that leads nowhere else is not lost.
    const ends = added.filter((promise) => this.isLost(promise));
    for (let promise = ends.pop(); promise; promise = ends.pop()) {
      const stage = this.stages.get(promise)!;
      if (stage.lost) continue;
      stage.lost = true;
      for (const { promise: source } of stage.from) {
        this.stages.get(source)!.open--;
        if (this.isLost(source)) ends.push(source);
      }
    }
    return added;
  }

  private stage(promise: PromiseObject, added: PromiseObject[]): Stage {
    let stage = this.stages.get(promise);
    if (!stage) {
      stage = { lost: false, open: 0, from: [] };
      this.stages.set(promise, stage);
      added.push(promise);
    }
    return stage;
  }

  private isLost(promise: PromiseObject): boolean {
    return this.stages.get(promise)!.open === 0 && promise !== this.main && isEndOfLost(promise);
  }

  /** Walks the heap from what `start` pushes; a promise that is met is held, and so is all that leads to it. */
  private hold(start: (push: (node: Node) => void) => void): void {
    const roots: Node[] = [];
    start((node) => roots.push(node));
    walk(
      roots,
      {
        promise: (promise, push) => {
          this.activateOpen(this.explore([promise]), push);
          this.revive(promise, push);
        },
      },
      this.seen,
    );
  }

  private activateOpen(stages: readonly PromiseObject[], push: (node: Node) => void): void {
    for (const promise of stages) {
      for (const reaction of promise.reactions ?? []) {
        const target = targetOf(reaction);
        if (target !== null && !this.stages.get(target)!.lost) this.activate(reaction, push);
      }
    }
  }

  private activateAll(start: PromiseObject, push: (node: Node) => void): void {
    const way = new Set([start]);
    for (const promise of way) {
      for (const reaction of promise.reactions ?? []) {
        const target = targetOf(reaction);
        if (target === null) continue;
        this.activate(reaction, push);
        way.add(target);
      }
    }
  }

  private activate(reaction: Reaction, push: (node: Node) => void): void {
    if (this.active.has(reaction)) return;
    this.active.add(reaction);
    pushHoldings(reaction, push);
  }

  private revive(promise: PromiseObject, push: (node: Node) => void): void {
    const work = [promise];
    for (let held = work.pop(); held; held = work.pop()) {
      const stage = this.stages.get(held)!;
      if (!stage.lost) continue;
      stage.lost = false;
      for (const { promise: source, reaction } of stage.from) {
        this.activate(reaction, push);
        work.push(source);
      }
    }
  }
}
