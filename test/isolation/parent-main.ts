// A process that has two processes of isolated flows: one holds its thread, one waits for work.

import { compile, DEFAULT_LIMITS, saveProgram } from '../../libs/flow/index.js';
import { IsolationPool, isolatedProgram } from '../../libs/isolation/index.js';
import { HOSTILE } from './children.js';

const pool = new IsolationPool({ processes: 2, turnTimeoutMs: 600_000, place: HOSTILE });
const program = compile('return 1');

function run(workflow: string) {
  return pool.run({
    program: isolatedProgram(saveProgram(program), program.fingerprint),
    context: { executionId: 'run', rootId: 'run', parentId: null, workflow, version: 'v1', startedAt: 0, tags: [] },
    limits: DEFAULT_LIMITS,
    allow: {},
    numberAfter: 0,
    now: Date.now(),
    snapshot: undefined,
    inputs: undefined,
    events: [],
    crashes: 0,
  }).outcome;
}

const spinning = run('spin');
await run('good');
console.log(`children ${pool.pids.join(' ')}`);
await spinning;
