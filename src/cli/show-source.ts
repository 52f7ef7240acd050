// The source of a flow with an arrow at each current line of a run.

import { line, type Painted, visible } from './output.js';
import { cut } from './table.js';
import type { Terminal } from './terminal.js';

/** A position in the source. */
export interface Place {
  line: number;
  column: number;
}

// A flow of up to this many lines is shown whole.
const WHOLE = 40;
const AROUND = 4;

/** The lines around the places (or all of them), numbered, with arrows. */
export function showSource(source: string, places: readonly Place[], all: boolean, { colours, columns }: Terminal): Painted[] {
  const lines = source.replace(/\r?\n$/, '').split(/\r\n|[\n\r\u2028\u2029]/);
  const arrows = new Map(places.map((place) => [place.line, place]));
  const near = (line: number) => [...arrows.keys()].some((at) => Math.abs(at - line) <= AROUND);
  const gutter = String(lines.length).length;
  const shown: Painted[] = [];
  let skipped = false;
  for (const [index, text] of lines.entries()) {
    const number = index + 1;
    if (!all && lines.length > WHOLE && !near(number)) {
      skipped = true;
      continue;
    }
    if (skipped && shown.length > 0) shown.push(colours.dim(`  ${'⋮'.padStart(gutter)} │`));
    skipped = false;
    const place = arrows.get(number);
    const code = visible(text.replaceAll('\t', '  '));
    const room = columns === undefined ? code : cut(code, Math.max(20, columns - gutter - 6));
    const head = `${place ? '→' : ' '} ${String(number).padStart(gutter)} │ `;
    shown.push(place ? colours.bold(colours.yellow(head + room)) : line`${colours.dim(head)}${room}`);
  }
  return shown;
}

/** The first position in the stack of a flow's error. */
export function placeOfError(stack: string | undefined): Place | undefined {
  const found = /:(\d+):(\d+)\)?\s*$/m.exec(stack ?? '');
  return found ? { line: Number(found[1]), column: Number(found[2]) } : undefined;
}
