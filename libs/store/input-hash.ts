// The form of an input in which equal values are equal texts, and its hash: how a start is compared with a run of the same id.

import { createHash } from 'node:crypto';

/** The hash of an input, JSON text: the same for the same values, in whatever order their keys were written. */
export function inputHash(text: string | undefined): string {
  return createHash('sha256').update(canonicalInput(text)).digest('base64url').slice(0, HASH_LENGTH);
}

// 132 bits: two different inputs of one id never have the same.
const HASH_LENGTH = 22;

/** An input, JSON text, with its keys in one order. */
export function canonicalInput(text: string | undefined): string {
  return text === undefined ? 'undefined' : canonical(JSON.parse(text));
}

function canonical(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(object[key])}`)
    .join(',')}}`;
}
