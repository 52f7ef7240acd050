// Reads single values of a snapshot's JSON, checked: anything else than expected is damage.

import type { Json } from './format.js';

/** What is wrong with a snapshot; becomes a FlowSnapshotError. */
export class Damage extends Error {}

export function damaged(reason: string): never {
  throw new Damage(reason);
}

export function asArray(json: Json, what: string): Json[] {
  return Array.isArray(json) ? json : damaged(`${what} is not an array`);
}

export function asString(json: Json): string {
  return typeof json === 'string' ? json : damaged('found a value instead of a string');
}

export function asNumber(json: Json): number {
  return typeof json === 'number' ? json : damaged('found a value instead of a number');
}

export function asDateTime(json: Json): number {
  const time = asNumber(json);
  return Number.isInteger(time) && Math.abs(time) <= 8.64e15 ? time : damaged('a date is out of range');
}

export function asCount(json: Json | undefined, what: string): number {
  return typeof json === 'number' && Number.isSafeInteger(json) && json >= 0 ? json : damaged(`${what} is not a whole number`);
}

export function asChoice<T>(from: readonly T[], json: Json): T {
  const index = asCount(json, 'a choice');
  return index < from.length ? from[index] : damaged(`choice ${index} is unknown`);
}
