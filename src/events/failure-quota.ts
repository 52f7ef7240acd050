// Limits how many failures of one name are logged per minute, and counts the rest.

/** Failures of one name that were not logged. */
export interface Unlogged {
  level: 'warn' | 'error';
  kind: 'task' | 'workflow';
  name: string;
  count: number;
}

// Flows may be made by the thousand. Further names share one count.
const MOST_NAMES = 1_000;
const OTHERS = 'other names';

/** The failures of one minute. Without this, a service that is down for an hour would fill the log with one line per attempt. */
export class FailureQuota {
  private readonly counts = new Map<string, Unlogged>();

  constructor(
    /** Lines per name and level; 0 for no limit. */
    private readonly most: number,
  ) {}

  /** Whether this failure may be logged. If not, it is counted. */
  take(level: 'warn' | 'error', kind: 'task' | 'workflow', name: string): boolean {
    if (this.most === 0) return true;
    let count = this.counts.get(`${level} ${kind} ${name}`);
    if (!count) {
      const isOther = this.counts.size >= MOST_NAMES;
      const key = isOther ? `${level} ${kind} ${OTHERS}` : `${level} ${kind} ${name}`;
      count = this.counts.get(key) ?? { level, kind, name: isOther ? OTHERS : name, count: 0 };
      this.counts.set(key, count);
    }
    return ++count.count <= this.most;
  }

  /** Ends the minute, and returns what was not logged in it. */
  reset(): Unlogged[] {
    const over = [...this.counts.values()].filter(({ count }) => count > this.most);
    this.counts.clear();
    return over.map((one) => ({ ...one, count: one.count - this.most }));
  }
}
