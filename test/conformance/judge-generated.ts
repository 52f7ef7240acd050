// Runs generated programs in every way; a seed generates the same programs again, and a failing one is shrunk before it is shown.
import fc from 'fast-check';
import { judgeCase } from './compare.js';
import { programFrom } from './generate.js';
import { callsFrom } from './generate-calls.js';
import type { Case } from './golden.js';
import { runInV8 } from './v8.js';

export interface GeneratedReport {
  programs: number;
  seed: number;
  failures: string[];
}

const TAPE = fc.array(fc.nat(999), { minLength: 20, maxLength: 260, size: 'max' });
/** V8 runs this many programs in one process. */
const BATCH = 250;
/** Enough to see a pattern. */
const MOST_FAILURES = 5;

export async function judgeGenerated(options: { runs: number; seed?: number }): Promise<GeneratedReport> {
  const seed = options.seed ?? Date.now() & 0x7fffffff;
  const report: GeneratedReport = { programs: 0, seed, failures: [] };
  for (let batch = 0; report.programs < options.runs && report.failures.length < MOST_FAILURES; batch++) {
    const numRuns = Math.min(BATCH, options.runs - report.programs);
    const tapes = fc.sample(TAPE, { seed: seed + batch, numRuns });
    const found = await judgeTapes(tapes);
    for (const [index, differences] of found.entries()) {
      if (differences.length > 0 && report.failures.length < MOST_FAILURES) report.failures.push(await smallest(tapes[index], differences));
    }
    report.programs += numRuns;
  }
  return report;
}

async function judgeTapes(tapes: readonly number[][]): Promise<string[][]> {
  const cases = tapes.map((tape, index) => caseOf(tape, index));
  const outcomes = await runInV8(cases);
  return cases.map((each, index) => {
    const { status, error } = outcomes[index];
    if (status === 'refused') return [`the generated program is not valid JavaScript: ${String(error)}`];
    return judgeCase(each, outcomes[index]).found;
  });
}

/** The first number of a tape decides which kind of program it is. */
function sourceOf(tape: readonly number[]): string {
  return (tape[0] ?? 0) % 4 === 1 ? callsFrom(tape.slice(1)) : programFrom(tape.slice(1));
}

function caseOf(tape: number[], index: number): Case {
  const results = { bad: [{ error: { name: 'Error', message: 'bad' } }], slow: [{ value: '50', afterMs: 3 }] };
  return { path: `generated-${index}`, source: sourceOf(tape), script: { results, signals: [], withdrawn: [], muted: [] } };
}

/** Cuts the tape while it still fails. */
async function smallest(tape: number[], differences: string[]): Promise<string> {
  let best = tape;
  let shown = differences;
  for (let size = best.length >> 1; size >= 1; size >>= 1) {
    const shorter: number[][] = [];
    for (let at = 1; at < best.length; at += size) shorter.push([...best.slice(0, at), ...best.slice(at + size)]);
    const found = await judgeTapes(shorter);
    const index = found.findIndex((each) => each.length > 0);
    if (index < 0) continue;
    best = shorter[index];
    shown = found[index];
    size = Math.min(size << 1, best.length);
  }
  return `${sourceOf(best)}\n  ${shown.join('\n  ')}\n`;
}
