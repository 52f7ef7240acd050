// The door of the checker: rules of placement and what Flow refuses, over a whole tree.

import { type Diagnostic, diagnosticAt, type Fault } from '../errors.js';
import type { Program } from '../parse/ast.js';
import { LineMap } from '../parse/line-map.js';
import { checkEntry } from './entry.js';
import { faultOf } from './fault.js';
import { checkPlacement } from './placement.js';
import type { Report } from './refused-nodes.js';

export { CONSTRUCTORS, REFUSALS, type Refusal, type RefusalCode } from './refusals.js';

/** Everything that is wrong with a tree and needs no scopes to be seen. */
export function checkSyntax(ast: Program, source: string, file: string): Diagnostic[] {
  const faults: Fault[] = [];
  const report: Report = (code, { start, end }, words) => faults.push(faultOf(code, start, end, words));
  checkPlacement(ast, checkEntry(ast, report), report);
  if (faults.length === 0) return [];
  const lines = new LineMap(source);
  return faults.sort((a, b) => a.start - b.start).map((fault) => diagnosticAt(lines, file, fault));
}
