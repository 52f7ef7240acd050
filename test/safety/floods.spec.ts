// Floods from outside: any number of signals and results costs a run time in proportion to it, and nothing else.
import { describe, expect, it } from '@jest/globals';
import type { FlowEvent } from '../../libs/flow/index.js';
import { begin, turnOf } from '../support/flow-driver.js';

const noise = (count: number): FlowEvent[] =>
  Array.from({ length: count }, (_, at) => ({ kind: 'signal', key: `k${at}`, name: `noise${at % 10}`, payload: '1' }));

describe('a flood', () => {
  it('of two hundred thousand signals that no wait asks for is skipped', () => {
    const { run } = begin(
      `const kept = Timer.sleep('1h'); const big = []; for (let i = 0; i < 20000; i++) big.push({ i }); const x = await Signal.when('wanted'); return [x, big.length, kept instanceof Promise]`,
    );
    const result = turnOf(run, [...noise(200_000), { kind: 'signal', key: 'last', name: 'wanted', payload: '"here"' }]);
    expect(result).toMatchObject({ status: 'completed', output: '["here",20000,true]', consumedSignals: [{ key: 'last', wait: 2 }] });
  });

  it('of signals does not look for lost rejections each time', () => {
    const { run } = begin(
      `const bad = Promise.reject(1); const big = []; for (let i = 0; i < 20000; i++) big.push({ i }); await Signal.when('wanted'); return [await bad.catch((e) => e), big.length]`,
    );
    const result = turnOf(run, [...noise(20_000), { kind: 'signal', key: 'last', name: 'wanted' }]);
    expect(result).toMatchObject({ status: 'completed', output: '[1,20000]' });
  });

  it('of signals that are awaited one by one keeps their order', () => {
    const { run } = begin(
      `const seen = []; for (let i = 0; i < 2000; i++) seen.push(await Signal.when('n')); return seen.every((x, i) => x === i)`,
    );
    const events = Array.from({ length: 2_000 }, (_, at): FlowEvent => ({ kind: 'signal', key: `k${at}`, name: 'n', payload: String(at) }));
    expect(turnOf(run, events)).toMatchObject({ status: 'completed', output: 'true' });
  });

  it('of results of calls that were never made changes nothing', () => {
    const { run } = begin(`return await Task.run('x')`);
    const wrong = Array.from({ length: 100_000 }, (_, at): FlowEvent => ({ kind: 'completed', id: at + 2, value: '1' }));
    expect(turnOf(run, [...wrong, { kind: 'timer', id: 1 }, { kind: 'timeout', id: 1 }])).toMatchObject({
      status: 'suspended',
      effects: [],
    });
    expect(turnOf(run, [{ kind: 'completed', id: 1, value: '"right"' }])).toMatchObject({ status: 'completed', output: '"right"' });
  });

  it('of results that are delivered twice counts once', () => {
    const { run } = begin(`let n = 0; const a = Task.run('a').then(() => n++); await a; await Signal.when('end'); return n`);
    const twice: FlowEvent[] = [
      { kind: 'completed', id: 1 },
      { kind: 'completed', id: 1 },
      { kind: 'failed', id: 1, error: { name: 'Error', message: 'late' } },
    ];
    expect(turnOf(run, [...twice, { kind: 'signal', key: 'k', name: 'end' }])).toMatchObject({ status: 'completed', output: '1' });
  });
});
