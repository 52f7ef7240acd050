// Progress of long work: a bar with an estimate in a terminal, a line every few seconds elsewhere.

import type { CliContext } from './command.js';
import { span } from './format.js';

const REDRAW_MS = 100;
const LINE_MS = 5_000;
const BAR = 24;

/** Counts up to a total and shows the progress. */
export class Progress {
  private done = 0;
  private drawnAt = 0;
  private readonly startedAt = performance.now();

  constructor(
    private readonly context: CliContext,
    private readonly label: string,
    private readonly total: number,
  ) {
    this.drawnAt = this.startedAt;
  }

  /** Adds to what is done. */
  add(n: number): void {
    this.done += n;
    const now = performance.now();
    const { errIsTty } = this.context.terminal;
    if (now - this.drawnAt < (errIsTty ? REDRAW_MS : LINE_MS)) return;
    this.drawnAt = now;
    if (errIsTty) this.context.redraw(this.text());
    else this.context.note(this.text());
  }

  /** Removes the bar. */
  end(): void {
    if (this.context.terminal.errIsTty) this.context.redraw('');
  }

  /** `cleanup  ████░░░░  1,200 of 4,000  30%  2m left` */
  text(): string {
    const share = this.total === 0 ? 1 : Math.min(1, this.done / this.total);
    const spent = performance.now() - this.startedAt;
    const left = share > 0 && share < 1 ? `  ${span((spent / share) * (1 - share))} left` : '';
    const bar = '█'.repeat(Math.round(share * BAR)).padEnd(BAR, '░');
    const numbers = `${this.done.toLocaleString('en-US')} of ${this.total.toLocaleString('en-US')}`;
    return `${this.label}  ${bar}  ${numbers}  ${Math.floor(share * 100)}%${left}`;
  }
}
