// A seam for tests: code that runs around every statement of a store, and may make it fail.

import type { Statement } from './statement.js';

/**
 * Called for each statement with its name (`rhythm_claim_work`; the statements of a commit begin with `rhythm_commit_`) and a
 * function that sends it. It may throw before it calls `run`, throw after it (the statement took effect, its reply is lost), or
 * return rows of its own and not call `run` at all. `BEGIN` and `COMMIT` of the store's own transactions pass through it as
 * `rhythm_begin` and `rhythm_end`.
 */
export type Intercept = (statement: string, run: () => Promise<unknown[]>) => Promise<unknown[]>;

/** Sends a statement, through `intercept` if there is one. */
export function intercepted<Row>(intercept: Intercept | undefined, statement: Statement, send: () => Promise<Row[]>): Promise<Row[]> {
  return intercept ? (intercept(statement.name, send) as Promise<Row[]>) : send();
}
