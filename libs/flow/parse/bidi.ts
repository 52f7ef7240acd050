// Finds the characters that change the order in which text is shown, which can make a source look like a different program.

import { type Fault, faultOf } from '../diagnostics/fault.js';

const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const MOST = 10;

/** The bidirectional control characters of a source, wherever they are. */
export function findBidi(source: string): Fault[] {
  const faults: Fault[] = [];
  for (const { 0: char, index } of source.matchAll(BIDI)) {
    const hex = char.charCodeAt(0).toString(16).padStart(4, '0');
    faults.push(faultOf('FLOW_BIDI', index, index + 1, { found: `U+${hex.toUpperCase()}`, escape: `\\u${hex}` }));
    if (faults.length === MOST) break;
  }
  return faults;
}
