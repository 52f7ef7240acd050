// A timer that can be set far ahead and moved nearer.

// setTimeout fires at once beyond 2^31 ms.
const LONGEST_MS = 2_147_483_647;

/** Calls back once, at the earliest time it was set to. */
export class Alarm {
  private timer: NodeJS.Timeout | undefined;
  private dueAt = Number.POSITIVE_INFINITY;

  constructor(private readonly ring: () => void) {}

  /** Rings after this many milliseconds, unless it is set to ring earlier already. */
  within(ms: number): void {
    const dueAt = performance.now() + ms;
    if (dueAt >= this.dueAt) return;
    this.dueAt = dueAt;
    this.arm();
  }

  clear(): void {
    clearTimeout(this.timer);
    this.dueAt = Number.POSITIVE_INFINITY;
  }

  private arm(): void {
    clearTimeout(this.timer);
    const left = this.dueAt - performance.now();
    this.timer = setTimeout(
      () => {
        if (this.dueAt - performance.now() > 0.5) return this.arm();
        this.dueAt = Number.POSITIVE_INFINITY;
        this.ring();
      },
      Math.min(Math.max(0, Math.ceil(left)), LONGEST_MS),
    );
  }
}

/** A pause that a nudge cuts short. */
export class Doorbell {
  private answer: (() => void) | undefined;
  private rung = false;

  /** Ends the present wait, or the next one at once. */
  ring(): void {
    this.rung = true;
    this.answer?.();
  }

  /** Waits for a ring, at most this long. Answers true when it was rung. */
  async wait(ms: number): Promise<boolean> {
    if (!this.rung) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.answer = resolve;
        timer = setTimeout(resolve, Math.min(ms, LONGEST_MS));
      });
      clearTimeout(timer);
      this.answer = undefined;
    }
    const rung = this.rung;
    this.rung = false;
    return rung;
  }
}
