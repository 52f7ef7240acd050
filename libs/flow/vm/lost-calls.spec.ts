// Calls that lost a race: which waits still take signals, which timers and timeouts still fire, and that a restore changes none of it.

import { describe, expect, it } from '@jest/globals';
import { begin, type Ended, resume, turnOf } from '../../../test/support/flow-driver.js';
import type { Effect, FlowEvent } from '../index.js';

const signal = (name: string, key: string): FlowEvent => ({ kind: 'signal', key, name, payload: `"${key}"` });
const timer = (id: number): FlowEvent => ({ kind: 'timer', id });
const timeout = (id: number): FlowEvent => ({ kind: 'timeout', id });
const done = (id: number, value?: string): FlowEvent => ({ kind: 'completed', id, value });

const shown = (effect: Effect) =>
  effect.kind === 'log'
    ? `log ${effect.message}`
    : effect.kind === 'withdraw'
      ? `withdraw ${effect.id} ${effect.reason}`
      : `${effect.kind} ${effect.id}`;

interface Turn {
  effects: string[];
  /** `key→wait` of each signal that was taken. */
  taken: string[];
  muted: number[];
  output?: string;
  error?: string;
}

function turnOutcome(result: Ended): Turn {
  return {
    effects: result.effects.map(shown),
    taken: result.consumedSignals.map(({ key, wait }) => `${key}→${wait}`),
    muted: result.muted,
    ...(result.status === 'completed' ? { output: result.output } : {}),
    ...(result.status === 'failed' ? { error: `${result.error.name}: ${result.error.message}` } : {}),
  };
}

/** The turns of a run, which must be the same in memory and when each one starts from the snapshot of the one before. */
function play(source: string, ...turns: FlowEvent[][]): Turn[] {
  const inMemory = begin(source);
  const outcomes = [turnOutcome(inMemory.result)];
  let stored = begin(source);
  for (const events of turns) {
    outcomes.push(turnOutcome(turnOf(inMemory.run, events)));
    stored = resume(stored.program, stored.run.snapshot(), events);
    expect(turnOutcome(stored.result)).toEqual(outcomes.at(-1));
  }
  return outcomes;
}

const last = (turns: Turn[]) => turns.at(-1)!;

/** A race that its task wins, then a pause, then a wait for the signal that the loser waited for. */
const raceAgainstTask = (loser: string) => `
  await Promise.race([${loser}, Task.run('quick')])
  await Task.run('between')
  return await Signal.when('go')`;

describe('a wait that lost a race', () => {
  it.each([
    ['an arrow', `Signal.when('go').then(() => 'go')`],
    ['a chain', `Signal.when('go').then((x) => x).catch(() => 0).then(() => 'go')`],
    ['an arrow with an effect', `Signal.when('go').then((x) => console.log(x))`],
    ['an async function', `(async () => { await Signal.when('go'); return 'go' })()`],
    ['an async function with an effect', `(async () => { console.log(await Signal.when('go')) })()`],
    ['nested async functions', `(async () => { const x = await (async () => await Signal.when('go'))(); return [x] })()`],
    ['a race in the race', `Promise.race([Signal.when('go').then(() => 1), new Promise(() => {})]).then(() => 2)`],
    ['an async function around a race', `(async () => Promise.race([Signal.when('go'), new Promise(() => {})]))()`],
    ['Promise.all', `Promise.all([Signal.when('go').then(() => 1), 2])`],
    ['a listener loop', `(async () => { for (;;) console.log(await Signal.when('go')) })()`],
    ['a function that was resolved with it', `Promise.resolve().then(() => Signal.when('go'))`],
  ])('is withdrawn and leaves the signal when its label is %s', (_what, loser) => {
    const id = loser.startsWith('Promise.resolve()') ? 2 : 1;
    const turns = play(raceAgainstTask(loser), [done(3 - id)], [signal('go', 'k'), done(3)]);
    expect(turns[1].effects).toEqual(['task 3', `withdraw ${id} lost`]);
    expect(last(turns)).toMatchObject({ output: '"k"', taken: ['k→4'] });
  });

  it.each([
    ['catch', `Signal.when('go').catch((e) => console.log(e.name))`],
    ['finally', `Signal.when('go').finally(() => console.log('TimeoutError'))`],
    ['try', `(async () => { try { await Signal.when('go') } catch (e) { console.log(e.name) } })()`],
    ['try around a call', `(async () => { try { await (async () => Signal.when('go'))() } catch (e) { console.log(e.name) } })()`],
  ])('with an effectful %s takes no signal, but its timeout fires', (_what, source) => {
    const loser = source.replace(`'go')`, `'go', { timeout: '1h' })`);
    const turns = play(raceAgainstTask(loser), [done(2)], [signal('go', 'k')], [timeout(1), done(3)]);
    expect(turns[1]).toMatchObject({ effects: ['task 3'], muted: [1] });
    expect(turns[2]).toMatchObject({ effects: [], taken: [], muted: [] });
    // The signal stays with the caller, which passes it in again.
    expect(last(turns).effects).toEqual(['log TimeoutError', 'wait 4']);
  });

  it('is rejected by a cancel, and what catches it runs', () => {
    const loser = `(async () => { try { await Signal.when('go') } finally { console.log('cleaned') } })()`;
    const turns = play(raceAgainstTask(loser), [done(2)], [{ kind: 'cancel' }]);
    expect(turns[1]).toMatchObject({ effects: ['task 3'], muted: [1] });
    expect(last(turns)).toMatchObject({ effects: ['withdraw 1 cancelled', 'log cleaned'], error: 'CancelledError: The run was cancelled' });
  });

  it('in the same turn leaves the signal to a later wait of that turn', () => {
    const source = `
      await Promise.race([Signal.when('go').then(() => 'lost'), Task.run('quick')])
      return await Signal.when('go')`;
    expect(last(play(source, [done(2), signal('go', 'k')]))).toMatchObject({ output: '"k"', taken: ['k→3'] });
    const guarded = source.replace(`.then(() => 'lost')`, `.finally(() => console.log('never'))`);
    expect(last(play(guarded, [done(2), signal('go', 'k')]))).toMatchObject({ output: '"k"', taken: ['k→3'] });
  });

  it('of Promise.any and of Promise.all that rejected early is lost as well', () => {
    for (const combinator of ['any', 'all']) {
      const source = `
        await Promise.${combinator}([Signal.when('go').then(() => 1), Task.run('quick')]).catch(() => 0)
        return await Signal.when('go')`;
      const event: FlowEvent = combinator === 'any' ? done(2) : { kind: 'failed', id: 2, error: { name: 'Error', message: 'no' } };
      const turns = play(source, [event], [signal('go', 'k')]);
      expect(turns[1].effects).toEqual(['wait 3', 'withdraw 1 lost']);
      expect(last(turns)).toMatchObject({ output: '"k"' });
    }
  });

  it('writes nothing into a variable that others see, because it takes nothing', () => {
    const source = `
      let seen = 'nothing'
      await Promise.race([Signal.when('go').then((x) => { seen = x }), Task.run('quick')])
      await Task.run('between')
      return seen`;
    expect(last(play(source, [done(2)], [signal('go', 'k'), done(3)]))).toMatchObject({ output: '"nothing"', taken: [] });
  });

  it('is made by a branch that lost before: it takes nothing from the start', () => {
    const source = `
      const branch = async () => { await Timer.sleep('1h'); console.log('slept'); return await Signal.when('go') }
      await Promise.race([branch(), Task.run('quick')])
      await Task.run('between')
      return await Signal.when('go')`;
    const turns = play(source, [done(2)], [timer(1), signal('go', 'k')], [signal('go', 'k'), done(3)]);
    expect(turns[2]).toMatchObject({ effects: ['log slept', 'wait 4', 'withdraw 4 lost'], taken: [] });
    expect(last(turns)).toMatchObject({ output: '"k"', taken: ['k→5'] });
  });

  it('in a variable of a branch that lost goes on without signals until that branch gives it to a live one', () => {
    const source = `
      const { promise, resolve } = Promise.withResolvers()
      const branch = async () => {
        const wait = Signal.when('go', { timeout: '9h' })
        await Timer.sleep('1h')
        resolve([wait])
      }
      await Promise.race([branch(), Task.run('quick')])
      const [wait] = await promise
      return await wait`;
    const turns = play(source, [done(3)], [signal('go', 'k')], [timer(2), signal('go', 'k')]);
    expect(turns[1].muted).toEqual([1]);
    expect(turns[2].taken).toEqual([]);
    expect(last(turns)).toMatchObject({ output: '"k"', taken: ['k→1'] });
  });

  it('fails the run when only such waits are left', () => {
    const source = `
      const { promise, resolve } = Promise.withResolvers()
      const loser = Signal.when('go').then(resolve).finally(() => console.log('end'))
      await Promise.race([loser, Task.run('quick')])
      return await promise`;
    expect(last(play(source, [done(2)])).error).toMatch(/^StuckError/);
  });
});

describe('a wait that was raced', () => {
  it.each([
    ['its own promise', `const kept = Signal.when('go'); const label = kept.then(() => 1)`, `await kept`],
    ['the promise of its label', `const kept = Signal.when('go').then((x) => x); const label = kept`, `await kept`],
    ['its async function', `const label = (async () => await Signal.when('go'))(); const kept = [label]`, `await kept[0]`],
    ['a closure', `const w = Signal.when('go'); const label = w.then(() => 1); const kept = async () => await w`, `await kept()`],
    ['the middle of its chain', `const kept = Signal.when('go').then((x) => x); const label = kept.then(() => 1)`, `await kept`],
  ])('goes on taking signals while a live variable holds %s', (_what, declare, use) => {
    const source = `
      ${declare}
      await Promise.race([label, Task.run('quick')])
      await Task.run('between')
      return ${use}`;
    const turns = play(source, [done(2)], [signal('go', 'k')], [done(3)]);
    expect(turns[1]).toMatchObject({ effects: ['task 3'], muted: [] });
    expect(turns[2].taken).toEqual(['k→1']);
    expect(last(turns)).toMatchObject({ output: '"k"' });
  });

  it('stops when the last live variable that held it is dead, even after a restore in between', () => {
    const source = `
      const label = Signal.when('go').then((x) => x)
      await Promise.race([label, Task.run('quick')])
      await Task.run('between')
      console.log(label instanceof Promise)
      await Task.run('after')
      return await Signal.when('go')`;
    const turns = play(source, [done(2)], [done(3)], [signal('go', 'k'), done(4)]);
    expect(turns[1].effects).toEqual(['task 3']);
    expect(turns[2].effects).toEqual(['log true', 'task 4', 'withdraw 1 lost']);
    expect(last(turns)).toMatchObject({ output: '"k"', taken: ['k→5'] });
  });

  it('goes on taking signals while another reaction waits for it', () => {
    const source = `
      const wait = Signal.when('go')
      wait.then((x) => console.log(x))
      await Promise.race([wait.then(() => 1), Task.run('quick')])
      await Task.run('between')`;
    const turns = play(source, [done(2)], [signal('go', 'k')]);
    expect(last(turns)).toMatchObject({ effects: ['withdraw 1 signalled', 'log k'], taken: ['k→1'] });
  });

  it('goes on taking signals while one of its two races is open', () => {
    const source = `
      const label = Signal.when('go').then((x) => x)
      await Promise.race([label, Task.run('quick')])
      return await Promise.race([label, Task.run('slow')])`;
    const turns = play(source, [done(2)], [signal('go', 'k')]);
    expect(last(turns)).toMatchObject({ output: '"k"', taken: ['k→1'] });
  });
});

describe('a branch that was never raced', () => {
  it('goes on listening', () => {
    const source = `
      (async () => { for (;;) console.log(await Signal.when('news')) })()
      await Promise.race([Signal.when('go').then(() => 1), Task.run('quick')])
      await Task.run('between')`;
    const turns = play(source, [done(3)], [signal('news', 'a')], [signal('news', 'b')]);
    expect(turns[2]).toMatchObject({ taken: ['a→1'], effects: ['withdraw 1 signalled', 'log a', 'wait 5'] });
    expect(last(turns).taken).toEqual(['b→5']);
  });

  it('goes on listening when it was started by one that lost', () => {
    const source = `
      const branch = async () => {
        (async () => { for (;;) console.log(await Signal.when('news')) })()
        await Signal.when('go')
      }
      await Promise.race([branch(), Task.run('quick')])
      await Task.run('between')`;
    const turns = play(source, [done(3)], [signal('go', 'g'), signal('news', 'a')]);
    expect(turns[1].effects).toEqual(['task 4', 'withdraw 2 lost']);
    expect(last(turns).taken).toEqual(['a→1']);
  });

  it('goes on in a cycle of promises that leads nowhere', () => {
    const source = `
      const { promise, resolve } = Promise.withResolvers()
      resolve(Promise.race([Signal.when('go'), promise]).then((x) => { console.log(x); return x }))
      await Promise.race([Signal.when('other'), Task.run('quick')])
      await Task.run('between')`;
    expect(last(play(source, [done(3)], [signal('go', 'k')]))).toMatchObject({
      taken: ['k→1'],
      effects: ['withdraw 1 signalled', 'log k'],
    });
  });
});

describe('a timer that lost a race', () => {
  const race = (loser: string) => `
    let cell = 0
    await Promise.race([${loser}, Signal.when('go')])
    await Task.run('between')
    return cell`;

  it.each([
    `Timer.sleep('1h').then(() => 'late')`,
    `Timer.sleep('1h').then(() => ({ kind: 'late', at: cell, list: [1, , 2] }))`,
    `Timer.sleep('1h').then(() => { throw new RangeError('late') })`,
    `Timer.sleep('1h').then(() => cell === 0 ? 'a' : null)`,
    `Timer.sleep('1h').then(async () => 'late').catch(() => 0)`,
    `Timer.sleep('1h').finally(() => {})`,
    `(async () => { await Timer.sleep('1h'); return 'late' })()`,
    `(async () => { await Timer.sleep('1h'); throw new Error('late') })()`,
    `(async () => { try { await Timer.sleep('1h'); return 'late' } catch { return 'cancelled' } })()`,
    `(async () => await Timer.sleep('1h'))()`,
  ])('is withdrawn when what follows is inert: %s', (loser) => {
    expect(play(race(loser), [signal('go', 'k')])[1].effects).toEqual(['withdraw 2 signalled', 'task 3', 'withdraw 1 lost']);
  });

  it.each([
    [`Timer.sleep('1h').then(() => console.log('late'))`, 'log late', '0'],
    [`Timer.sleep('1h').then(() => { cell = 7 })`, undefined, '7'],
    [`Timer.sleep('1h').then(async () => { cell++ })`, undefined, '1'],
    [`(async () => { await Timer.sleep('1h'); await Task.run('late') })()`, 'task 4', '0'],
    [`(async () => { try { await Timer.sleep('1h') } finally { cell = 5 } })()`, undefined, '5'],
    [`Timer.sleep('1h').finally(() => { cell = 3 })`, undefined, '3'],
    [`Timer.sleep('1h').then(() => ({ then() { cell = 2 } }))`, undefined, '2'],
    [`Timer.sleep('1h').then(() => '' + { toString() { cell = 4; return '' } })`, undefined, '4'],
    [`Timer.sleep('1h').then(() => { for (const x of [1]) cell += x })`, undefined, '1'],
  ])('fires otherwise: %s', (loser, effect, output) => {
    const turns = play(race(loser), [signal('go', 'k')], [timer(1)], [done(3)]);
    expect(turns[1].effects).toEqual(['withdraw 2 signalled', 'task 3']);
    expect(turns[2].effects).toEqual(effect ? [effect] : []);
    expect(last(turns)).toMatchObject({ output });
  });

  it('fires when a promise of its chain is held by a branch that lost and may still move', () => {
    const source = `
      const label = Timer.sleep('2h').then(() => 'late')
      const branch = async () => { await Timer.sleep('1h'); console.log(await label) }
      await Promise.race([label, branch(), Signal.when('go')])
      await Task.run('between')`;
    const turns = play(source, [signal('go', 'k')], [timer(2)], [timer(1)]);
    expect(turns[1].effects).toEqual(['withdraw 3 signalled', 'task 4']);
    expect(last(turns).effects).toEqual(['log late']);
  });
});

describe('a flood', () => {
  it('of signals that only a wait that lost asks for is skipped', () => {
    const source = `
      const big = []
      for (let i = 0; i < 20000; i++) big.push({ i })
      await Promise.race([Signal.when('go').finally(() => console.log('end')), Task.run('quick')])
      await Task.run('between')
      return [await Signal.when('go'), big.length]`;
    const { program, run } = begin(source);
    const second = resume(program, run.snapshot(), [done(2)]);
    expect(second.result.muted).toEqual([1]);
    const flood = Array.from({ length: 50_000 }, (_, at) => signal('go', String(at)));
    const third = resume(program, second.run.snapshot(), [...flood, done(3)]);
    expect(third.result).toMatchObject({ output: '["0",20000]', consumedSignals: [{ key: '0', wait: 4 }] });
  });
});

describe('a reminder loop', () => {
  it('keeps its size however many rounds it loses', () => {
    const source = `
      for (let round = 1; ; round++) {
        const label = async () => { console.log('paid ' + (await Signal.when('paid'))); return 'paid' }
        const first = await Promise.race([label(), Timer.sleep('3s').then(() => 'due')])
        if (first === 'paid') return round
        await Task.run('remind', round)
      }`;
    let { program, run, result } = begin(source);
    const sizes: number[] = [];
    for (let round = 1; round < 50; round++) {
      const sleeping = result.effects.find((effect) => effect.kind === 'timer') as { id: number };
      ({ run, result } = resume(program, run.snapshot(), [timer(sleeping.id)]));
      const task = result.effects.find((effect) => effect.kind === 'task') as { id: number };
      ({ program, run, result } = resume(program, run.snapshot(), [done(task.id)]));
      sizes.push(run.snapshot().length);
    }
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(12);
    expect(turnOf(run, [signal('paid', 'now')])).toMatchObject({ output: '50' });
  });
});
