// The processes of isolated flows: what they are given, how they end, and what becomes of a turn that ends with them.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, describe, expect, it } from '@jest/globals';
import { compile, DEFAULT_LIMITS, type FlowEvent, saveProgram } from '../../libs/flow/index.js';
import { type IsolatedTurn, type IsolationOptions, IsolationPool, isolatedProgram } from '../../libs/isolation/index.js';
import { CONTEXT } from '../support/flow-driver.js';
import { waitFor } from '../support/index.js';

const pools: IsolationPool[] = [];

function open(options: Partial<IsolationOptions> = {}): IsolationPool {
  const pool = new IsolationPool({ processes: 1, ...options });
  pools.push(pool);
  return pool;
}

function turn(source: string, more: Partial<IsolatedTurn> = {}, events: FlowEvent[] = []): IsolatedTurn {
  const program = compile(source, { file: 'spec.flow' });
  return {
    program: isolatedProgram(saveProgram(program), program.fingerprint),
    context: CONTEXT,
    limits: DEFAULT_LIMITS,
    allow: {},
    numberAfter: 0,
    now: 1_700_000_000_000,
    snapshot: undefined,
    inputs: undefined,
    events,
    crashes: 0,
    ...more,
  };
}

afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

describe('a process of isolated flows', () => {
  it('runs turns from their snapshots', async () => {
    const pool = open();
    const source = `const a = await Task.run('one', Inputs); console.log(a); return a + 1`;
    const first = await pool.run(turn(source, { inputs: '{"x":1}' })).outcome;
    expect(first.result).toMatchObject({
      status: 'suspended',
      effects: [{ kind: 'task', id: 1, name: 'one', input: '{"x":1}', options: {} }],
    });
    const second = await pool.run(turn(source, { snapshot: first.snapshot, numberAfter: 1 }, [{ kind: 'completed', id: 1, value: '41' }]))
      .outcome;
    expect(second.result).toMatchObject({ status: 'completed', output: '42', effects: [{ kind: 'log', message: '41' }] });
    expect(pool.pids).toHaveLength(1);
  });

  it('gets nothing of its worker: no environment, no descriptors but its channel, no folder', async () => {
    process.env.RHYTHM_SPEC_SECRET = 'secret';
    const pool = open();
    await pool.run(turn('return 1')).outcome;
    delete process.env.RHYTHM_SPEC_SECRET;
    const [pid] = pool.pids;
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('');
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe('/');
    const open_ = readdirSync(`/proc/${pid}/fd`).map((fd) => `${fd} ${readlinkSync(`/proc/${pid}/fd/${fd}`)}`);
    console.log(open_, readFileSync(`/proc/${pid}/cmdline`, 'utf8'), /VmRSS.*/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[0]);
  });
});
