// Runs cases in every way and reports where they disagree: with each other, with V8, and with what a golden expects.
import { FlowSyntaxError } from '../../libs/flow/index.js';
import { againstExpectation } from './expectation.js';
import type { Case, Golden } from './golden.js';
import { differences, type Outcome } from './outcome.js';
import { compileCase, type FlowOutcome, runFlow, WAYS } from './run-flow.js';

/** Everything that is wrong with a golden; an empty array is agreement. */
export function judgeGolden(golden: Golden, v8: Outcome | undefined): string[] {
  if (golden.errors.length > 0) return judgeRefusal(golden);
  const { found, straight } = judgeCase(golden, v8);
  if (straight === undefined) return found;
  return [...found, ...againstExpectation(golden, straight), ...againstLosers(golden, straight)];
}

/** Flow in all its ways against each other and against V8. */
export function judgeCase(each: Case, v8: Outcome | undefined): { found: string[]; straight?: FlowOutcome } {
  try {
    const program = compileCase(each);
    const straight = runFlow(each, 'straight', program);
    const found = WAYS.filter((way) => way !== 'straight').flatMap((way) => differences(straight, runFlow(each, way, program), way));
    if (v8 !== undefined) found.push(...differences(straight, v8, 'V8'));
    if (straight.error !== undefined && found.length > 0) found.push(`the error was ${straight.error.name}: ${straight.error.message}`);
    return { found, straight };
  } catch (error) {
    return { found: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

function againstLosers({ script }: Golden, { withdrawn, muted }: FlowOutcome): string[] {
  return [
    ...script.withdrawn.filter((id) => !withdrawn.includes(id)).map((id) => `durable call ${id} was not withdrawn`),
    ...script.muted.filter((id) => !muted.includes(id)).map((id) => `durable call ${id} was not muted`),
  ];
}

function judgeRefusal(golden: Golden): string[] {
  try {
    compileCase(golden);
    return ['it compiles, but an error was expected'];
  } catch (error) {
    if (!(error instanceof FlowSyntaxError)) return [`not a FlowSyntaxError: ${String(error)}`];
    const { diagnostics } = error;
    return golden.errors
      .filter(
        ({ line, column, text }) =>
          !diagnostics.some((each) => each.line === line && each.column === column && each.message.includes(text)),
      )
      .map(
        ({ line, column, text }) =>
          `expected ${line}:${column} "${text}", got ${diagnostics.map((each) => `${each.line}:${each.column} ${each.message}`).join(' | ')}`,
      );
  }
}
