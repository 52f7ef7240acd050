// The numbers of durable calls: a turn that is run again uses the same ones, and no flow can make two calls share one.
import { describe, expect, it } from '@jest/globals';
import { compile, DEFAULT_LIMITS, type FlowEvent, restoreRun, startRun } from '../../libs/flow/index.js';
import { begin, CONTEXT, turnOf } from '../support/flow-driver.js';

const SOURCE = `
const branch = async (n) => { await Task.run('a' + n); Task.run('lost' + n); await Timer.sleep(n); return await Task.run('b' + n) }
const all = Promise.all([branch(1), branch(2), branch(3)])
await Promise.race([Signal.when('go'), Timer.sleep('1h')])
console.log(Math.random(), crypto.randomUUID(), Date.now())
return await all`;

describe('the numbers of durable calls', () => {
  it('are the same when a turn is run again from its snapshot', () => {
    const { program, run } = begin(SOURCE);
    let snapshot = run.snapshot();
    const rounds: FlowEvent[][] = [
      [
        { kind: 'completed', id: 2 },
        { kind: 'signal', key: 's', name: 'go' },
      ],
      [
        { kind: 'completed', id: 1 },
        { kind: 'completed', id: 3 },
      ],
      [
        { kind: 'timer', id: 7 },
        { kind: 'timer', id: 9 },
      ],
    ];
    for (const events of rounds) {
      const again = [1, 2, 3].map(() => {
        const restored = restoreRun(program, snapshot, { context: CONTEXT });
        return { result: turnOf(restored, events), snapshot: restored.snapshot() };
      });
      expect(again[1]).toEqual(again[0]);
      expect(again[2]).toEqual(again[0]);
      snapshot = again[0].snapshot;
    }
  });

  it('are the same however small the slices are', () => {
    const effectsWith = (fuelPerSlice: number) => begin(SOURCE, { limits: { fuelPerSlice } }).result.effects;
    expect(effectsWith(1)).toEqual(effectsWith(DEFAULT_LIMITS.fuelPerSlice));
  });

  it('rise by one and are never used twice, even by calls that fail, are cancelled or settled in their own turn', () => {
    const { run, result } = begin(`
      const ids = []; for (let i = 0; i < 50; i++) { const t = i % 3 ? Timer.sleep(1) : Task.run('t'); if (i % 5 === 0) t.cancel(); t.catch(() => 1) }
      try { Task.run('bad', NaN) } catch {} try { Task.run('') } catch {} await Task.run('last')`);
    const started = result.effects.filter((each) => ['task', 'timer', 'workflow', 'wait'].includes(each.kind)) as { id: number }[];
    expect(started.map(({ id }) => id)).toEqual(Array.from({ length: 51 }, (_, at) => at + 1));
    expect(JSON.parse(run.snapshot())[2]).toBe(52);
  });

  it('continue after those that a failed turn assigned', () => {
    const program = compile(`await Task.run('a'); await Task.run('b')`);
    const run = startRun(program, { context: CONTEXT });
    turnOf(run);
    const restored = restoreRun(program, run.snapshot(), { context: CONTEXT, numberAfter: 41 });
    expect(turnOf(restored, [{ kind: 'completed', id: 1 }])).toMatchObject({ effects: [{ kind: 'task', id: 42 }] });
  });
});

describe('the size of a snapshot', () => {
  const holding = (count: number) =>
    `const l = []; for (let i = 0; i < ${count}; i++) l.push('entry ' + i); await Task.run('x'); return l.length`;

  it('past its limit fails the run with the limit', () => {
    const { result } = begin(holding(10_000), { limits: { snapshotBytes: 50_000 } });
    expect(result).toMatchObject({ status: 'failed', error: { name: 'LimitError', code: 'FLOW_LIMIT_SNAPSHOT' } });
    expect(result.effects.filter(({ kind }) => kind !== 'log')).toEqual([]);
  });

  it('below its limit is the text that the engine compares with its threshold', () => {
    const { run, result } = begin(holding(100), { limits: { snapshotBytes: 50_000 } });
    expect(result.status).toBe('suspended');
    expect(run.snapshot().length).toBeLessThan(50_000);
  });

  it('counts what the text escapes', () => {
    const source = `const s = '\\u0001'.repeat(10000); await Task.run('x'); return s.length`;
    expect(begin(source, { limits: { snapshotBytes: 30_000 } }).result).toMatchObject({
      status: 'failed',
      error: { code: 'FLOW_LIMIT_SNAPSHOT' },
    });
  });
});
