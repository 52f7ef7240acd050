// Workflows whose turns had to be ended lately: their other runs probably do the same.

const SUSPECTED_MS = 60_000;
const MOST_SUSPECTS = 1_000;

export class Suspects {
  /** Until when each is suspected, the one that was added last at the end. */
  private readonly until = new Map<string, number>();

  add(workflow: string): void {
    this.until.delete(workflow);
    this.until.set(workflow, performance.now() + SUSPECTED_MS);
    for (const oldest of this.until.keys()) if (this.until.size > MOST_SUSPECTS) this.until.delete(oldest);
  }

  has(workflow: string): boolean {
    const until = this.until.get(workflow);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.until.delete(workflow);
    return false;
  }
}
