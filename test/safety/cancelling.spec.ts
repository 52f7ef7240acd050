// Cancelling a hostile run: it may clean up, but it can neither refuse to end nor exceed a limit meanwhile.
import { describe, expect, it } from '@jest/globals';
import type { FlowEvent } from '../../libs/flow/index.js';
import { begin, turnOf } from '../support/flow-driver.js';

const LIMITS = { fuelPerTurn: 3_000_000, heapBytes: 4 * 1024 * 1024, pendingEffects: 100 };
const CANCEL: FlowEvent = { kind: 'cancel', reason: 'enough' };

describe('a cancelled run', () => {
  it('gets an error at its await, once, and may clean up', () => {
    const { run } = begin(`try { await Timer.sleep('1h') } catch (e) { await Task.run('undo', e.name + ': ' + e.message) } return 'clean'`);
    expect(turnOf(run, [CANCEL])).toMatchObject({
      status: 'suspended',
      effects: [
        { kind: 'withdraw', id: 1 },
        { kind: 'task', id: 2, input: '"CancelledError: enough"' },
      ],
    });
    expect(turnOf(run, [{ kind: 'completed', id: 2 }])).toMatchObject({ status: 'completed', output: '"clean"' });
  });

  it.each([
    ['loops forever', `for (;;) try { await Timer.sleep('1h') } catch { for (;;) {} }`, 'FLOW_LIMIT_FUEL'],
    ['loops forever in finally', `try { await Timer.sleep('1h') } finally { for (;;) {} }`, 'FLOW_LIMIT_FUEL'],
    ['fills the heap', `try { await Timer.sleep('1h') } catch { let s = 'x'; for (;;) s += s }`, 'FLOW_LIMIT_HEAP'],
    ['starts tasks forever', `try { await Timer.sleep('1h') } catch { for (;;) Task.run('x') }`, 'FLOW_LIMIT_PENDING_EFFECTS'],
    ['recurses forever', `try { await Timer.sleep('1h') } catch { const f = () => f(); f() }`, 'FLOW_LIMIT_CALL_DEPTH'],
  ])('that %s ends at a limit', (_what, source, code) => {
    const { run } = begin(source, { limits: LIMITS });
    expect(turnOf(run, [CANCEL])).toMatchObject({ status: 'failed', error: { name: 'LimitError', code } });
  });

  it('that ignores it suspends again, so that the engine can end it after the grace period', () => {
    const { run } = begin(`for (;;) try { await Timer.sleep('1h') } catch {}`);
    for (let id = 2; id < 20; id++)
      expect(turnOf(run, [CANCEL])).toMatchObject({ status: 'suspended', effects: [{ kind: 'withdraw' }, { kind: 'timer', id }] });
  });

  it('rejects twenty thousand waits in bounded time', () => {
    const { run } = begin(
      `const all = []; for (let i = 0; i < 19000; i++) all.push(Signal.when('s' + i)); return (await Promise.allSettled(all)).length`,
    );
    expect(turnOf(run, [CANCEL])).toMatchObject({ status: 'completed', output: '19000' });
  });
});

describe('a limit', () => {
  const limits = LIMITS;
  it.each([
    `try { for (;;) {} } catch { return 'caught' } finally { await Task.run('finally') }`,
    `const f = async () => { for (;;) {} }; await f().catch(() => Task.run('caught')); return 1`,
    `await Promise.allSettled([(async () => { for (;;) {} })()]); await Task.run('after')`,
    `new Promise(() => { for (;;) {} }).catch(() => 1).finally(() => Task.run('finally')); await Task.run('after')`,
    `await Promise.try(() => { for (;;) {} }).catch(() => Task.run('caught'))`,
    `await { then() { for (;;) {} } }; await Task.run('after')`,
    `[1].map(() => { for (;;) {} }); await Task.run('after')`,
    `JSON.stringify({ toJSON() { for (;;) {} } }); await Task.run('after')`,
    `\`\${{ toString() { for (;;) {} } }}\`; await Task.run('after')`,
    `[2, 1].sort(() => { for (;;) {} }); await Task.run('after')`,
    `'a'.replace('a', () => { for (;;) {} }); await Task.run('after')`,
  ])('cannot be caught and skips finally: %s', (source) => {
    expect(begin(source, { limits }).result).toMatchObject({
      status: 'failed',
      error: { name: 'LimitError', code: 'FLOW_LIMIT_FUEL' },
      effects: [],
    });
  });

  it.each([
    `Promise.reject({ a: 1 }); for (;;) {}`,
    `Promise.reject(new Error('x')); 'x'.repeat(2 ** 28)`,
    `const big = Array(100000).fill(1); try { throw Object.assign(new Error('x'), { data: big }) } catch (e) { Promise.reject(e) } for (;;) {}`,
    `Task.run('x'); Signal.when('s'); Promise.reject(1); for (;;) {}`,
    `console.log('x'.repeat(100000)); Promise.reject('y'.repeat(1000000)); 'x'.repeat(2 ** 28)`,
  ])('ends the run as a result, never as an exception of the host: %s', (source) => {
    const { result } = begin(source, { limits });
    expect(result).toMatchObject({ status: 'failed', error: { name: 'LimitError' } });
  });

  it('is reported when the inputs alone are too large', () => {
    expect(begin('return 1', { inputs: 'x'.repeat(10_000_000), limits }).result).toMatchObject({
      status: 'failed',
      error: { code: 'FLOW_LIMIT_HEAP' },
    });
  });

  it('starts nothing that was requested in its turn, and keeps the log lines', () => {
    const { result } = begin(`Task.run('a'); console.log('here'); Task.run('b'); for (;;) {}`, { limits });
    expect(result.effects).toMatchObject([{ kind: 'log', message: 'here' }]);
  });
});
