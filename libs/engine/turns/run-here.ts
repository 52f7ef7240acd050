// A run that has steps in place on this worker: the claim by which they are found, and one thing at a time for it.

/** Two turns of a run at once, or a turn and a step that gets a row, would take each other's fence: whoever does either locks it. */
export class RunHere<End> {
  /** How many steps it has here. */
  steps = 0;
  /** Steps that have ended, and whose end nobody has taken on yet. */
  ends: End[] = [];
  private isLocked = false;
  private readonly waiting: (() => void)[] = [];

  constructor(public claimId: string) {}

  /** Nothing to wait for when it is free, so that the usual step costs no promise. */
  lock(): Promise<void> | undefined {
    if (this.isLocked) return new Promise((resolve) => void this.waiting.push(resolve));
    this.isLocked = true;
    return undefined;
  }

  /** Locks it only if it is free. */
  tryLock(): boolean {
    if (this.isLocked) return false;
    this.isLocked = true;
    return true;
  }

  unlock(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.isLocked = false;
  }
}
