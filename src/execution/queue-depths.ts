// Refuses starts in a queue that is full.

import { type NewExecution, readQueueDepth, type Store } from '../../libs/store/index.js';
import { QueueFullError } from '../errors.js';

/** What an application says about one queue. */
export interface QueueOptions {
  /** Starts are refused while this many executions wait in the queue. */
  maxDepth?: number;
}

// For so long a count is used for further starts. A queue is counted a few times per second, however many starts there are.
const FRESH_MS = 200;

interface Count {
  /** How many more may be started, by this count and what was started here since. */
  room: number;
  /** Nothing was started here since. */
  isUnused: boolean;
  at: number;
}

/**
 * The queues of one process that have a limit. The count is of the database and is kept for a moment, so several processes that start
 * at the same time may exceed the limit by what each starts in that moment.
 */
export class QueueDepths {
  private readonly limits: ReadonlyMap<string, number>;
  private readonly counts = new Map<string, Count>();
  private readonly counting = new Map<string, Promise<void>>();

  constructor(
    private readonly store: Store,
    queues: Readonly<Record<string, QueueOptions>> = {},
  ) {
    this.limits = new Map(Object.entries(queues).flatMap(([name, { maxDepth }]) => (maxDepth === undefined ? [] : [[name, maxDepth]])));
  }

  /** Whether there is a limit at all; if not, starts do not ask. */
  get hasLimits(): boolean {
    return this.limits.size > 0;
  }

  /** Throws a `QueueFullError` if there is no room for one of these. Those that start later are not in their queue yet. */
  async admit(executions: readonly NewExecution[]): Promise<void> {
    const wanted = new Map<string, number>();
    for (const { queue, options } of executions) {
      const isLater = options?.delayMs !== undefined || options?.runAt !== undefined;
      if (!isLater && this.limits.has(queue)) wanted.set(queue, (wanted.get(queue) ?? 0) + 1);
    }
    for (const [queue, count] of wanted) if (this.mustCount(queue, count)) await this.count(queue);
    // From here on without a pause: of starts that waited for the same count, each must see what those before it took.
    for (const [queue, count] of wanted)
      if ((this.counts.get(queue)?.room ?? 0) < count) throw new QueueFullError(queue, this.limits.get(queue) as number, count);
    for (const [queue, count] of wanted) this.take(queue, count);
  }

  // Of what was started here since a count, workers may have taken some: only one that nothing followed can refuse.
  private mustCount(queue: string, wanted: number): boolean {
    const known = this.counts.get(queue);
    if (known === undefined || performance.now() - known.at >= FRESH_MS) return true;
    return known.room < wanted && !known.isUnused;
  }

  private take(queue: string, count: number): void {
    const known = this.counts.get(queue) as Count;
    known.room -= count;
    known.isUnused = false;
  }

  // One at a time for all starts that need it.
  private count(queue: string): Promise<void> {
    let running = this.counting.get(queue);
    if (!running) {
      running = this.read(queue).finally(() => this.counting.delete(queue));
      this.counting.set(queue, running);
    }
    return running;
  }

  private async read(queue: string): Promise<void> {
    const max = this.limits.get(queue) as number;
    const depth = await readQueueDepth(this.store.db, queue, max);
    this.counts.set(queue, { room: max - depth, isUnused: true, at: performance.now() });
  }
}
