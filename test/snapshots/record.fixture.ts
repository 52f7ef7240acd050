// Records the snapshots of flows that are not in the corpus yet: `node --import ./scripts/register-typescript.mjs test/snapshots/record.fixture.ts`.
// A file that exists is never written again: it represents runs that wait in a user's database.
import { existsSync, writeFileSync } from 'node:fs';
import { compile, saveProgram, startRun } from '../../libs/flow/index.js';
import { CONTEXT, turnOf } from '../support/flow-driver.js';
import { continueFrom } from './continue-from.js';
import { CORPUS_FLOWS } from './corpus-flows.js';

for (const { name, source, inputs, before = [], after } of CORPUS_FLOWS) {
  const file = new URL(`./corpus/${name}.json`, import.meta.url);
  if (existsSync(file)) continue;
  const program = compile(source, { file: `${name}.flow` });
  const run = startRun(program, { context: CONTEXT, inputs: inputs === undefined ? undefined : JSON.stringify(inputs) });
  for (const events of [[], ...before]) {
    const result = turnOf(run, [...events]);
    if (result.status !== 'suspended') throw new Error(`${name} ended before its snapshot: ${JSON.stringify(result)}`);
  }
  const stored = { source, program: saveProgram(program), snapshot: run.snapshot(), events: after };
  const outcome = continueFrom(stored);
  writeFileSync(file, `${JSON.stringify({ ...stored, outcome }, null, 1)}\n`);
  console.log(name, JSON.stringify(outcome).slice(0, 1_000));
}
