// Runs one flow with the default limits, and prints how it ended, how often it yielded and the most memory that the process had more than before.
import { compile, type FlowHost, startRun, type TurnResult } from '../../libs/flow/index.js';
import { HEAP_BOUNDS, TIME_BOUNDS } from './bounds.js';

const CONTEXT = { executionId: 'run', rootId: 'run', parentId: null, workflow: 'bounds', version: 'v1', startedAt: 0, tags: [] };
const host: FlowHost = { now: () => 0, random: () => 0, uuid: () => '' };

function outcomeOf(result: TurnResult): string {
  if (result.status !== 'failed') return result.status;
  return result.error.name === 'LimitError' ? (result.error.code as string) : result.error.name;
}

for (const name of process.argv.slice(2)) {
  const bound = [...HEAP_BOUNDS, ...TIME_BOUNDS].find((each) => each.name === name);
  if (!bound) throw new Error(`There is no flow "${name}".`);
  const idle = process.memoryUsage().rss;
  const run = startRun(compile(bound.source), { context: CONTEXT });
  let yields = 0;
  let most = 0;
  let result = run.turn([], host);
  for (; result.status === 'yielded'; yields++) {
    most = Math.max(most, process.memoryUsage().rss - idle);
    result = run.turn([], host);
  }
  console.log(JSON.stringify({ name, outcome: outcomeOf(result), yields, megabytes: Math.round(most / 1e6) }));
}
console.log('"done"');
