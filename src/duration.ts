// Reads durations ("24h", "1h 30m", 1500) and points in time, and refuses what is neither.

import { type Duration, DurationError, parseDuration as readDuration } from '../libs/flow/index.js';
import { InvalidArgumentError } from './errors.js';

export type { Duration };

/** Milliseconds of a duration, as flows read it; throws an `InvalidArgumentError` that names `path`. */
export function parseDuration(value: unknown, path: string): number {
  try {
    return readDuration(value);
  } catch (error) {
    if (error instanceof DurationError) throw new InvalidArgumentError('RHYTHM_OPTION_INVALID', path, `${path}: ${error.message}`);
    throw error;
  }
}

/** Milliseconds of a timeout. 0 is refused: people who write it mean that there is no timeout. */
export function parseTimeout(value: unknown, path: string): number {
  const ms = parseDuration(value, path);
  if (ms === 0)
    throw invalid(path, 'a timeout of 0 would fail everything immediately', 'Give a longer one, or leave it out for no timeout.');
  return ms;
}

/** A point in time from a Date, milliseconds since the epoch, or an ISO 8601 string with a time zone. */
export function parseInstant(value: unknown, path: string): Date {
  const date = value instanceof Date ? new Date(value.getTime()) : typeof value === 'number' ? new Date(value) : parseIso(value, path);
  const year = date.getUTCFullYear();
  if (Number.isNaN(date.getTime()) || year < 1970 || year > 9999) {
    throw invalid(
      path,
      `${show(value)} is not a valid date`,
      'Give a Date, milliseconds since 1970, or an ISO 8601 string such as "2030-01-31T09:00:00Z".',
    );
  }
  return date;
}

function parseIso(value: unknown, path: string): Date {
  if (typeof value !== 'string') return new Date(Number.NaN);
  // A time without a zone depends on the machine; a date alone is midnight UTC by the standard.
  if (/^\d{4}-\d{2}-\d{2}T[\d:.]+$/.test(value.trim())) {
    throw invalid(path, `${show(value)} has no time zone`, 'End it with "Z" or an offset such as "+02:00".');
  }
  return /^\d{4}-\d{2}-\d{2}/.test(value.trim()) ? new Date(value.trim()) : new Date(Number.NaN);
}

function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  return value instanceof Date || typeof value === 'number' ? String(value) : `a value of type ${value === null ? 'null' : typeof value}`;
}

function invalid(path: string, what: string, advice: string): InvalidArgumentError {
  return new InvalidArgumentError('RHYTHM_OPTION_INVALID', path, `${path}: ${what}. ${advice}`);
}
