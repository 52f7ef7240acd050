// Turns that wait for a process: workflows take turns, and those whose turns had to be ended hold at most half of the processes.

/** What the queue needs to know of a turn. */
export interface Waiting {
  workflow: string;
  /** Characters that it keeps in memory. */
  size: number;
}

/** How many may wait. */
export interface QueueLimits {
  all: number;
  perWorkflow: number;
  /** Characters, unless it waits alone. */
  size: number;
}

export class FairQueue<T extends Waiting> {
  /** By workflow, that whose turn it is first. */
  private readonly workflows = new Map<string, T[]>();
  private size = 0;
  length = 0;

  constructor(
    private readonly limits: QueueLimits,
    /** Whether a turn of this run, or lately of its workflow, had to be ended; asked when it could be taken. */
    private readonly isSuspicious: (turn: T) => boolean,
  ) {}

  /** Returns false when there is no room for it. */
  add(turn: T): boolean {
    const { all, perWorkflow, size } = this.limits;
    const known = this.workflows.get(turn.workflow);
    if (this.length >= all || (known?.length ?? 0) >= perWorkflow || (this.length > 0 && this.size + turn.size > size)) return false;
    if (known) known.push(turn);
    else this.workflows.set(turn.workflow, [turn]);
    this.count(turn, 1);
    return true;
  }

  /** The next one; its workflow is the last one from now on. Undefined when none may run. */
  take(maySuspicious: boolean): T | undefined {
    for (const [workflow, turns] of this.workflows) {
      const at = maySuspicious ? 0 : turns.findIndex((turn) => !this.isSuspicious(turn));
      if (at < 0) continue;
      const [turn] = turns.splice(at, 1) as [T];
      this.workflows.delete(workflow);
      if (turns.length > 0) this.workflows.set(workflow, turns);
      this.count(turn, -1);
      return turn;
    }
    return undefined;
  }

  remove(turn: T): boolean {
    const turns = this.workflows.get(turn.workflow);
    const at = turns?.indexOf(turn) ?? -1;
    if (!turns || at < 0) return false;
    turns.splice(at, 1);
    if (turns.length === 0) this.workflows.delete(turn.workflow);
    this.count(turn, -1);
    return true;
  }

  /** Takes all of them out. */
  drain(): T[] {
    const all = [...this.workflows.values()].flat();
    this.workflows.clear();
    this.length = 0;
    this.size = 0;
    return all;
  }

  private count(turn: T, by: 1 | -1): void {
    this.length += by;
    this.size += by * turn.size;
  }
}
