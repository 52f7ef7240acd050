// From cover nodes to the syntax tree: decides what the grammar left open and reports what JavaScript does not allow there.

import type { RefusalCode } from '../diagnostics/codes.js';
import { type Fault, faultOf } from '../diagnostics/fault.js';
import type { Program } from './ast.js';
import type { CoverStatement, List } from './cover.js';
import { programBody } from './refine-statement.js';

/** Ends the walk over a tree that is nested too deep to go on. */
class TooDeep extends Error {}

/** What the refining functions share: the faults found so far and how deep the tree is. */
export class Refinement {
  readonly faults: Fault[] = [];
  private depth = 0;

  constructor(private readonly limit: number) {}

  report(code: RefusalCode, start: number, end: number, words?: Record<string, string>): void {
    this.faults.push(faultOf(code, start, end, words));
  }

  /** Runs `build` `levels` deeper in the tree. */
  deeper<T>(levels: number, at: number, build: () => T): T {
    this.depth += levels;
    if (this.depth > this.limit) {
      this.report('FLOW_TOO_DEEP', at, at + 1, { limit: String(this.limit) });
      throw new TooDeep();
    }
    const result = build();
    this.depth -= levels;
    return result;
  }
}

/** The syntax tree of a whole source; no tree when it is nested deeper than `limit` nodes. */
export function refine(statements: List<CoverStatement> | null, source: string, limit: number): { ast: Program | null; faults: Fault[] } {
  const refinement = new Refinement(limit);
  try {
    const body = programBody(refinement, statements);
    return { ast: { type: 'Program', start: 0, end: source.length, body, sourceType: 'module' }, faults: refinement.faults };
  } catch (error) {
    if (error instanceof TooDeep) return { ast: null, faults: refinement.faults };
    throw error;
  }
}
