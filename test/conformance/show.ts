// Adds show.flow, which describes values, to a program that uses it; at the end, so that lines keep their numbers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const SHOW = readFileSync(join(import.meta.dirname, 'show.flow'), 'utf8');

export function withShow(source: string): string {
  return /\bshow\(/.test(source) ? `${source}\n${SHOW}` : source;
}
