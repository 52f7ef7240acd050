// The entry of the checker: placement rules and what Flow refuses, over a whole tree. The resolver checks names.

import { type Fault, faultOf, type Report } from '../diagnostics/fault.js';
import type { Program } from '../parse/ast.js';
import { type ParseLimits, parse } from '../parse/index.js';
import { checkEntry } from './entry.js';
import { checkPlacement } from './placement.js';

/** Parses a source and checks its tree; no tree when the source is broken. Of a broken source, what could be read is checked. */
export function readSource(source: string, limits?: ParseLimits): { ast: Program | null; faults: Fault[] } {
  const { ast, partial, faults } = parse(source, limits);
  const tree = ast ?? partial;
  return { ast, faults: tree ? [...faults, ...checkSyntax(tree)] : faults };
}

/** Everything that is wrong with a tree and can be found without scopes. */
export function checkSyntax(ast: Program): Fault[] {
  const faults: Fault[] = [];
  const report: Report = (code, { start, end }, words) => faults.push(faultOf(code, start, end, words));
  checkPlacement(ast, checkEntry(ast, report), report);
  return faults;
}
