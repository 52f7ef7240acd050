// Formats times, ages, counts and statuses for a terminal.

import type { ExecutionStatus } from '../execution/execution.js';
import { jsonText, type Printable } from './output.js';
import type { Terminal } from './terminal.js';

/** `850ms`, `12s`, `3m`, `5h`, `12d`: rounded down to one unit. */
export function span(ms: number): string {
  const size = Math.max(0, ms);
  if (size < 1_000) return `${Math.round(size)}ms`;
  if (size < 10_000) return `${(size / 1_000).toFixed(1)}s`;
  for (const [unit, length, next] of UNITS) if (size < next) return `${Math.floor(size / length)}${unit}`;
  return `${Math.floor(size / DAY)}d`;
}

/** How long ago a time was. */
export function age(at: Date, now = Date.now()): string {
  return span(now - at.getTime());
}

/** How long a run took, or has taken so far; empty if it has not run yet, even if a worker has claimed it and given it back. */
export function took({ status, attempts, startedAt, finishedAt }: RunTimes): string {
  if (!startedAt || (status === 'pending' && attempts === 0)) return '';
  return span((finishedAt ?? new Date()).getTime() - startedAt.getTime());
}

/** `3 executions`, `1 execution`. */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString('en-US')} ${noun}${n === 1 ? '' : 's'}`;
}

/** A value on one line. */
export function brief(value: unknown, most = 200): string {
  const text = jsonText(value) ?? 'undefined';
  return text.length > most ? `${text.slice(0, most)}…` : text;
}

/** Colours the name of a status. */
export function paintStatus(text: string, status: string, { colours }: Terminal): Printable {
  switch (status as ExecutionStatus) {
    case 'completed':
      return colours.green(text);
    case 'failed':
      return colours.red(text);
    case 'running':
      return colours.cyan(text);
    case 'suspended':
      return colours.blue(text);
    case 'paused':
    case 'cancelled':
      return colours.yellow(text);
    default:
      return text;
  }
}

interface RunTimes {
  status: ExecutionStatus;
  attempts: number;
  startedAt: Date | null;
  finishedAt: Date | null;
}

const DAY = 86_400_000;
const UNITS: readonly (readonly [string, number, number])[] = [
  ['s', 1_000, 120_000],
  ['m', 60_000, 7_200_000],
  ['h', 3_600_000, 2 * DAY],
];
