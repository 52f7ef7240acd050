// Continues a stored run to its end, one turn per array of events, as a worker would.
import { type FlowEvent, loadProgram, restoreRun } from '../../libs/flow/index.js';
import { CONTEXT, turnOf } from '../support/flow-driver.js';

/** A run as it was recorded: its program and its snapshot are the strings that the database holds. */
export interface StoredRun {
  readonly source: string;
  readonly program: string;
  readonly snapshot: string;
  readonly events: readonly (readonly FlowEvent[])[];
}

/** How a run ended: what it returned or the names and messages of its error, and the effects on the way. */
export interface Outcome {
  readonly status: string;
  readonly output?: string;
  readonly error?: string;
  readonly asked: string[];
}

/** With `restoring`, every turn begins from the snapshot of the one before. */
export function continueFrom(stored: StoredRun, program = loadProgram(stored.program), restoring = false): Outcome {
  let run = restoreRun(program, stored.snapshot, { context: CONTEXT });
  const asked: string[] = [];
  let last: Outcome = { status: 'suspended', asked };
  for (const events of stored.events) {
    if (last.status !== 'suspended') throw new Error(`The run ended early: ${JSON.stringify(last)}`);
    const result = turnOf(run, [...events]);
    for (const effect of result.effects) asked.push('id' in effect ? `${effect.kind} ${effect.id}` : effect.kind);
    if (result.status === 'failed') last = { status: 'failed', error: `${result.error.name}: ${result.error.message}`, asked };
    else last = { status: result.status, ...(result.status === 'completed' ? { output: result.output } : {}), asked };
    if (restoring && result.status === 'suspended') run = restoreRun(program, run.snapshot(), { context: CONTEXT });
  }
  return last;
}
