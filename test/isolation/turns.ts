// Turns for the pool of isolated flows, in specs.

import { afterEach } from '@jest/globals';
import { compile, DEFAULT_LIMITS, type FlowEvent, saveProgram } from '../../libs/flow/index.js';
import { type IsolatedTurn, type IsolationOptions, IsolationPool, isolatedProgram } from '../../libs/isolation/index.js';
import { CONTEXT, HOST } from '../support/flow-driver.js';

const pools: IsolationPool[] = [];

/** A pool of one process that is closed after the test. */
export function openPool(options: Partial<IsolationOptions> = {}): IsolationPool {
  const pool = new IsolationPool({ processes: 1, ...options });
  pools.push(pool);
  return pool;
}

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

/** The first turn of a flow, or with a snapshot a later one. */
export function turnFor(source: string, more: Partial<IsolatedTurn> = {}, events: readonly FlowEvent[] = []): IsolatedTurn {
  const program = compile(source, { file: 'spec.flow' });
  return {
    program: isolatedProgram(saveProgram(program), program.fingerprint),
    context: CONTEXT,
    limits: DEFAULT_LIMITS,
    allow: {},
    numberAfter: 0,
    now: HOST.now(),
    snapshot: undefined,
    inputs: undefined,
    events,
    crashes: 0,
    ...more,
  };
}

/** A turn of a workflow with this name. */
export function turnNamed(workflow: string, source = 'return 1', more: Partial<IsolatedTurn> = {}): IsolatedTurn {
  return turnFor(source, { context: { ...CONTEXT, workflow }, ...more });
}
