// Finds the durable calls that lost: their outcome reaches nothing but decided combinators.

import { isInert } from './inert.js';
import { type Reaction, targetOf } from './promise.js';
import { type Node, pushHoldings, walk } from './reach.js';
import type { PromiseObject } from './values.js';

export interface LostCalls {
  /**
   * Waits, timers, and tasks whose promise was never used. Their outcome leads, through any chain of `then` and async functions,
   * only to decided combinators, and no branch that leads anywhere else can reach a promise on that path.
   */
  readonly lost: ReadonlySet<PromiseObject>;
  /** Of these, the ones whose outcome cannot be observed, whatever it is. */
  readonly unobservable: ReadonlySet<PromiseObject>;
  /** How many objects were visited. */
  readonly size: number;
}

const NONE: LostCalls = { lost: new Set(), unobservable: new Set(), size: 0 };

/** For calls that are all pending, while nothing runs. `main` is the promise of the main body. */
export function findLostCalls(pending: ReadonlyMap<number, PromiseObject>, main: PromiseObject): LostCalls {
  for (const promise of pending.values()) if (mayBeLost(promise, main)) return new Search([...pending.values()], main).run();
  return NONE;
}

/** Hops after which the full search is cheaper than another try. */
const QUICK_HOPS = 8;

// Most calls are awaited by the main body or a function that it awaits, and this is checked at every await.
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

/** A task or child runs to its end even if it lost. */
function isStep({ call }: PromiseObject): boolean {
  return call!.kind === 'task' || call!.kind === 'workflow';
}

/** Of a promise without a reaction that still matters: the others are of branches that were started and never raced. */
function isEndOfLost(promise: PromiseObject): boolean {
  return promise.reactions !== null || promise.call !== null || promise.raced;
}

/** A promise on the path of an outcome. */
interface Hop {
  lost: boolean;
  /** Reactions that lead to a hop that is not lost. */
  open: number;
  readonly from: { readonly promise: PromiseObject; readonly reaction: Reaction }[];
}

class Search {
  private readonly hops = new Map<PromiseObject, Hop>();
  /** Reactions whose code may touch what it holds. */
  private readonly active = new Set<Reaction>();
  private readonly seen = new Set<object>();

  constructor(
    private readonly pending: readonly PromiseObject[],
    private readonly main: PromiseObject,
  ) {}

  run(): LostCalls {
    const hops = this.explore(this.pending);
    if (!this.candidates().some(() => true)) return { ...NONE, size: this.hops.size };
    // What live branches hold is not lost.
    this.hold((push) => this.activateOpen(hops, push));
    const lost = new Set(this.candidates());
    const inert = new Set([...lost].filter((promise) => isInert(promise)));
    // Whatever may still move, live or lost, may observe what it holds.
    this.hold((push) => {
      for (const promise of this.pending) if (!inert.has(promise)) this.activateAll(promise, push);
    });
    const unobservable = new Set([...inert].filter((promise) => this.hops.get(promise)!.lost));
    return { lost, unobservable, size: this.hops.size + this.seen.size };
  }

  private candidates(): PromiseObject[] {
    return this.pending.filter(
      (promise) => this.hops.get(promise)!.lost && (!isStep(promise) || (promise.reactions === null && !promise.handled)),
    );
  }

  /** Follows outcomes to their ends and decides from there which hops are lost. Returns those that are new. */
  private explore(starts: Iterable<PromiseObject>): PromiseObject[] {
    const added: PromiseObject[] = [];
    for (const start of starts) this.hop(start, added);
    for (let at = 0; at < added.length; at++) {
      const promise = added[at];
      const hop = this.hops.get(promise)!;
      for (const reaction of promise.reactions ?? []) {
        const target = targetOf(reaction);
        if (target === null) continue;
        const next = this.hop(target, added);
        next.from.push({ promise, reaction });
        if (!next.lost) hop.open++;
      }
    }
    // From the ends backwards: a cycle that leads nowhere else is not lost.
    const ends = added.filter((promise) => this.isLost(promise));
    for (let promise = ends.pop(); promise; promise = ends.pop()) {
      const hop = this.hops.get(promise)!;
      if (hop.lost) continue;
      hop.lost = true;
      for (const { promise: source } of hop.from) {
        this.hops.get(source)!.open--;
        if (this.isLost(source)) ends.push(source);
      }
    }
    return added;
  }

  private hop(promise: PromiseObject, added: PromiseObject[]): Hop {
    let hop = this.hops.get(promise);
    if (!hop) {
      hop = { lost: false, open: 0, from: [] };
      this.hops.set(promise, hop);
      added.push(promise);
    }
    return hop;
  }

  private isLost(promise: PromiseObject): boolean {
    return this.hops.get(promise)!.open === 0 && promise !== this.main && isEndOfLost(promise);
  }

  /** Walks the heap from what `start` pushes; a promise that it finds is held, and so is everything that leads to it. */
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

  private activateOpen(hops: readonly PromiseObject[], push: (node: Node) => void): void {
    for (const promise of hops) {
      for (const reaction of promise.reactions ?? []) {
        const target = targetOf(reaction);
        if (target !== null && !this.hops.get(target)!.lost) this.activate(reaction, push);
      }
    }
  }

  private activateAll(start: PromiseObject, push: (node: Node) => void): void {
    const path = new Set([start]);
    for (const promise of path) {
      for (const reaction of promise.reactions ?? []) {
        const target = targetOf(reaction);
        if (target === null) continue;
        this.activate(reaction, push);
        path.add(target);
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
      const hop = this.hops.get(held)!;
      if (!hop.lost) continue;
      hop.lost = false;
      for (const { promise: source, reaction } of hop.from) {
        this.activate(reaction, push);
        work.push(source);
      }
    }
  }
}
