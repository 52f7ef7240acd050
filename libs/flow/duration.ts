// Reads a duration as flows, options and settings write it: milliseconds, or a string such as "24h" or "1m 30s".
import { FlowError } from './errors.js';

/** Milliseconds as a number, or a string with units such as "500ms", "30s", "15m", "24h", "3d", "2w", "1h 30m". */
export type Duration = number | string;

/** A value is not a duration; the message says what is wrong with it and what to write. */
export class DurationError extends FlowError {
  constructor(message: string) {
    super('FLOW_DURATION', message);
    this.name = 'DurationError';
  }
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ...['s', 'sec', 'secs', 'second', 'seconds'].map((unit) => [unit, SECOND] as const),
  ...['m', 'min', 'mins', 'minute', 'minutes'].map((unit) => [unit, MINUTE] as const),
  ...['h', 'hr', 'hrs', 'hour', 'hours'].map((unit) => [unit, HOUR] as const),
  ...['d', 'day', 'days'].map((unit) => [unit, DAY] as const),
  ...['w', 'week', 'weeks'].map((unit) => [unit, WEEK] as const),
]);

// A century: beyond it a wrong unit is more likely than intent.
const LONGEST = 36_525 * DAY;
// No real duration is longer, and a flow must not make the parser scan a megabyte.
const LONGEST_TEXT = 64;
const ADVICE = 'Write milliseconds (1500) or a string such as "500ms", "30s", "15m", "24h", "3d" or "1h 30m".';

/** Milliseconds of a duration, whole and not negative; throws a `DurationError` for anything else. */
export function parseDuration(value: unknown): number {
  const ms = typeof value === 'number' ? value : typeof value === 'string' ? fromText(value) : Number.NaN;
  if (typeof value === 'string' && value.length <= LONGEST_TEXT && /^\s*\d+(?:\.\d+)?\s*$/.test(value) && Number.isNaN(ms)) {
    throw new DurationError(`${shown(value)} is not a duration: it has no unit. ${ADVICE}`);
  }
  if (!Number.isFinite(ms)) throw new DurationError(`${shown(value)} is not a duration. ${ADVICE}`);
  if (ms < 0) throw new DurationError(`${shown(value)} is a negative duration. Give zero or more.`);
  if (ms > LONGEST) throw new DurationError(`${shown(value)} is longer than 100 years. Check the unit: a bare number is milliseconds.`);
  return Math.round(ms);
}

const SHOWN_UNITS = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
  ['ms', 1],
] as const;

/** Milliseconds as a string that `parseDuration` reads: "1d 12h", "1s 500ms". */
export function showDuration(ms: number): string {
  const parts: string[] = [];
  let left = ms;
  for (const [unit, size] of SHOWN_UNITS) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count}${unit}`);
    left -= count * size;
  }
  return parts.join(' ') || '0s';
}

function fromText(text: string): number {
  const trimmed = text.trim().toLowerCase();
  if (trimmed === '' || trimmed.length > LONGEST_TEXT) return Number.NaN;
  // Other strings without a unit are refused: some mean seconds by "5".
  if (trimmed === '0') return 0;
  const part = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/y;
  let total = 0;
  while (part.lastIndex < trimmed.length) {
    const match = part.exec(trimmed);
    const unit = match && UNITS.get(match[2]);
    if (!match || unit === undefined || unit === null) return Number.NaN;
    total += Number(match[1]) * unit;
  }
  return total;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? `A string of ${value.length} characters` : JSON.stringify(value);
  return typeof value === 'object' && value !== null ? 'An object' : String(value);
}
