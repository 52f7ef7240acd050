// The outcome of a run, in the form in which the ways of running it are compared.
import type { ErrorData, JsonText } from '../../libs/flow/turn.js';

export interface Outcome {
  status: 'completed' | 'failed' | 'stuck' | 'refused';
  output?: JsonText;
  error?: Pick<ErrorData, 'name' | 'message'>;
  /** Durable calls in the order they were made. */
  calls: string[];
  log: string[];
}

/** One line per way in which two outcomes differ. Error messages are V8's own unless the flow made them, so names are compared. */
export function differences(ours: Outcome, theirs: Outcome, who: string): string[] {
  const found: string[] = [];
  const compare = (what: string, a: unknown, b: unknown) => {
    if (a !== b) found.push(`${what}: ${String(a)}\n    ${who}: ${String(b)}`);
  };
  compare('result', resultText(ours), resultText(theirs));
  compare('calls', ours.calls.join(' | '), theirs.calls.join(' | '));
  compare('log', ours.log.join('\n'), theirs.log.join('\n'));
  return found;
}

export function resultText(outcome: Outcome): string {
  if (outcome.status === 'completed') return `returned ${outcome.output}`;
  if (outcome.status === 'failed') return `threw ${outcome.error?.name}`;
  return outcome.status;
}
