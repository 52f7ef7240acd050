// Holds what came out of a run against what its golden expects.
import type { Golden } from './golden.js';
import { type Outcome, resultText } from './outcome.js';

/** What a golden expects against what V8 says; also without Flow this tells whether the golden is right. */
export function againstExpectation(golden: Golden, outcome: Outcome): string[] {
  const found: string[] = [];
  const result = resultText(outcome);
  if (golden.stuck && outcome.status !== 'stuck') found.push(`expected to wait for ever, but it ${result}`);
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
