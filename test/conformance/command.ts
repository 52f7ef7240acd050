// The conformance command: goldens, then generated programs; prints counts and every difference.
import { readFileSync, writeFileSync } from 'node:fs';
import { againstExpectation } from './expectation.js';
import { type Golden, readGoldens } from './golden.js';
import type { Outcome } from './outcome.js';
import { runInV8 } from './v8.js';

export interface ConformanceOptions {
  runs: number;
  seed?: number;
  only: string;
  write: boolean;
  v8: boolean;
}

/** Returns whether everything agrees. */
export async function runConformance({ runs, seed, only, write, v8 }: ConformanceOptions): Promise<boolean> {
  const goldens = readGoldens().filter(({ path }) => path.includes(only));
  const outcomes = await runGoldensInV8(goldens);
  if (write) {
    const count = goldens.filter((golden) => writeExpectation(golden, outcomes.get(golden))).length;
    console.log(`${count} expectations written from V8's results.`);
    return true;
  }
  // Imported late, so that --write and --v8 work while Flow itself is broken.
  const judgeGolden = v8 ? againstV8 : (await import('./compare.js')).judgeGolden;
  let wrong = 0;
  for (const golden of goldens) {
    const found = judgeGolden(golden, outcomes.get(golden));
    if (found.length === 0) continue;
    wrong++;
    console.log(`${golden.path}\n  ${found.join('\n  ')}`);
  }
  console.log(`Goldens: ${goldens.length}, run in V8 too: ${outcomes.size}, with differences: ${wrong}`);
  if (v8 || only !== '' || runs === 0) return wrong === 0;
  const { judgeGenerated } = await import('./judge-generated.js');
  const generated = await judgeGenerated({ runs, seed });
  console.log(`Generated programs: ${generated.programs} (seed ${generated.seed}), with differences: ${generated.failures.length}`);
  for (const failure of generated.failures) console.log(failure);
  return wrong === 0 && generated.failures.length === 0;
}

function againstV8(golden: Golden, outcome: Outcome | undefined): string[] {
  return outcome ? againstExpectation(golden, outcome) : [];
}

/** The outcomes in V8 of the goldens that can run there. */
export async function runGoldensInV8(goldens: readonly Golden[]): Promise<Map<Golden, Outcome>> {
  const runnable = goldens.filter(({ runsInV8, errors }) => runsInV8 && errors.length === 0);
  const outcomes = await runInV8(runnable);
  return new Map(runnable.map((golden, index) => [golden, outcomes[index]]));
}

function writeExpectation(golden: Golden, outcome: Outcome | undefined): boolean {
  const source = readFileSync(golden.file, 'utf8');
  if (outcome === undefined || /^\/\/ (expect:|throws:|stuck|error )/m.test(source)) return false;
  const line =
    outcome.status === 'completed'
      ? `// expect: ${outcome.output}`
      : outcome.status === 'failed'
        ? `// throws: ${outcome.error?.name}`
        : `// ${outcome.status}`;
  if (outcome.status === 'refused') throw new Error(`${golden.path}: ${outcome.error}`);
  writeFileSync(golden.file, `${line}\n${source}`);
  return true;
}
