// One thing at a time for a run: two turns of it at once, or a turn and a step that gets a row, would take each other's fence.

export class RunLocks {
  private readonly last = new Map<string, Promise<unknown>>();

  isFree(runId: string): boolean {
    return !this.last.has(runId);
  }

  /** Calls `work` once everything before it has settled. */
  async run<T>(runId: string, work: () => Promise<T>): Promise<T> {
    const before = this.last.get(runId);
    const result = before ? before.then(work) : work();
    const settled = result.then(ignore, ignore);
    this.last.set(runId, settled);
    try {
      return await result;
    } finally {
      if (this.last.get(runId) === settled) this.last.delete(runId);
    }
  }
}

const ignore = (): void => undefined;
