// Compares the outcome of a run with what its golden expects.
import type { Golden } from './golden.js';
import { type Outcome, resultText } from './outcome.js';

/** Works for the outcome in Flow and for that in V8, which shows whether the golden itself is right. */
export function againstExpectation(golden: Golden, outcome: Outcome): string[] {
  const found: string[] = [];
  const result = resultText(outcome);
  if (golden.stuck && outcome.status !== 'stuck') found.push(`expected to wait forever, but it ${result}`);
  if (golden.expect !== undefined && result !== `returned ${golden.expect}`)
    found.push(`expected ${golden.expect}, but it ${result} ${outcome.error?.message ?? ''}`);
  if (golden.throws !== undefined && !isExpectedError(golden.throws, outcome)) {
    found.push(`expected to throw ${golden.throws}, but it ${result}: ${outcome.error?.message}`);
  }
  if (golden.log !== undefined && golden.log.join('\n') !== outcome.log.join('\n')) {
    found.push(`expected the log\n${golden.log.join('\n')}\n    but it was\n${outcome.log.join('\n')}`);
  }
  return found;
}

function isExpectedError(expected: string, { status, error }: Outcome): boolean {
  if (status !== 'failed' || error === undefined) return false;
  return expected === error.name || expected === `${error.name}: ${error.message}`;
}
