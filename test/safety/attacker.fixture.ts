// Runs the exhausting flows one after another in a process with little memory, and prints how each of them ended.
import { compile, type FlowHost, startRun, type TurnResult } from '../../libs/flow/index.js';
import { ATTACKS } from './exhaustion-attacks.js';

const CONTEXT = { executionId: 'run', rootId: 'run', parentId: null, workflow: 'attack', version: 'v1', startedAt: 0, tags: [] };
// A fifth of what a run has by default, so that the suite ends soon: a limit works the same at any size.
const LIMITS = { fuelPerTurn: 10_000_000, heapBytes: 32 * 1024 * 1024 };
let seed = 1;
const host: FlowHost = {
  now: () => 0,
  uuid: () => '',
  random() {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  },
};

function outcomeOf(result: TurnResult): string {
  if (result.status !== 'failed') return result.status;
  return result.error.name === 'LimitError' ? (result.error.code as string) : result.error.name;
}

for (const name of process.argv.slice(2)) {
  const attack = ATTACKS.find((each) => each.name === name);
  if (!attack) throw new Error(`There is no attack "${name}".`);
  console.log(JSON.stringify({ name }));
  const run = startRun(compile(attack.source), { context: CONTEXT, limits: LIMITS });
  const began = performance.now();
  let longest = 0;
  let result: TurnResult = { status: 'yielded' };
  while (result.status === 'yielded') {
    const from = performance.now();
    result = run.turn([], host);
    longest = Math.max(longest, performance.now() - from);
  }
  console.log(
    JSON.stringify({ name, outcome: outcomeOf(result), ms: Math.round(performance.now() - began), longest: Math.round(longest) }),
  );
}
console.log('"done"');
