// Durable calls: numbers, events, signals, withdrawal, cancellation, unhandled rejections, groups and the end of a run.

import { describe, expect, it } from '@jest/globals';
import { begin, errorOf, outputOf, resume, turnOf } from '../../../test/support/flow-driver.js';
import type { Effect, FlowEvent } from '../index.js';
import { compile, startRun } from '../index.js';

const kinds = (effects: Effect[]) => effects.map((each) => ('id' in each ? `${each.kind} ${each.id}` : each.kind));

describe('a durable call', () => {
  it('starts when it is made and is numbered in that order', () => {
    const { result } = begin(`
      const a = Task.run('a', { x: 1 }, { queue: 'q', priority: 3, timeout: '5s', retry: { maxAttempts: 2, backoff: 'fixed', delay: 100 } })
      const b = Workflow.run('child', [1], { id: 'mine', detached: true })
      Timer.until('2030-01-01T00:00:00Z').then(() => 1)
      await Signal.when('go', { timeout: '1m' })
      await a; await b`);
    expect(result.effects).toEqual([
      {
        kind: 'task',
        id: 1,
        name: 'a',
        input: '{"x":1}',
        options: { queue: 'q', priority: 3, timeoutMs: 5000, retry: { maxAttempts: 2, backoff: 'fixed', delayMs: 100 } },
      },
      { kind: 'workflow', id: 2, name: 'child', input: '[1]', options: { id: 'mine', detached: true } },
      { kind: 'timer', id: 3, at: Date.parse('2030-01-01T00:00:00Z') },
      { kind: 'wait', id: 4, signal: 'go', timeoutMs: 60_000 },
    ]);
  });

  it('asks with the same numbers when its turn is run again', () => {
    const source = `await Task.run('a'); await Task.run('b')`;
    const { program, run } = begin(source);
    const snapshot = run.snapshot();
    const events: FlowEvent[] = [{ kind: 'completed', id: 1 }];
    expect(resume(program, snapshot, events).result).toEqual(resume(program, snapshot, events).result);
  });

  it('throws at its await when the task failed', () => {
    const source = `
      try { await Task.run('pay') } catch (e) {
        return [e.name, e.message, e.code, e.data, e.attempts, e instanceof TaskError, e instanceof Error, e.cause.name]
      }`;
    const { run } = begin(source);
    const error = { name: 'Declined', message: 'no money', code: 'E1', data: { left: 3 }, attempts: 2 };
    expect(turnOf(run, [{ kind: 'failed', id: 1, error }])).toMatchObject({
      output: '["TaskError","no money","E1",{"left":3},2,true,true,"Declined"]',
    });
  });

  it.each([
    ['Timer.delay(Inputs)', '-1', 'RangeError', /^Timer\.delay: -1 is a negative duration\. Give zero or more\.?$/],
    ['Timer.sleep(Inputs)', '"5"', 'TypeError', /^Timer\.sleep: "5" is not a duration: it has no unit\./],
    ['Timer.delay(Inputs)', '"5"', 'TypeError', /^Timer\.delay: "5" is not a duration: it has no unit\./],
    ['Task.run("n".repeat(201))', 'null', 'TypeError', /longer than 200 characters/],
    ['Task.run("a", 1, { idempotencyKey: "k".repeat(501) })', 'null', 'TypeError', /up to 500 characters/],
  ])('%s of %s is refused as it was written', (call, inputs, name, message) => {
    const { result } = begin(`try { await ${call} } catch (e) { return [e.name, e.message] }`, { inputs: JSON.parse(inputs) });
    expect(JSON.parse((result as { output: string }).output)).toEqual([name, expect.stringMatching(message)]);
  });

  it('ignores late and unknown events', () => {
    const { run } = begin(`await Timer.sleep(5); return await Task.run('a')`);
    const events: FlowEvent[] = [
      { kind: 'completed', id: 1, value: '1' },
      { kind: 'timer', id: 99 },
      { kind: 'timer', id: 1 },
      { kind: 'timer', id: 1 },
      { kind: 'completed', id: 2, value: '"ok"' },
    ];
    expect(turnOf(run, events)).toMatchObject({ status: 'completed', output: '"ok"' });
  });

  it.each([
    [`await Task.run('t', { a: [NaN] })`, 'input.a[0] is NaN'],
    [`await Task.run('t', new Map())`, 'input is a Map'],
    [`await Task.run('t', { f: () => 1 })`, 'input.f is a function'],
    [`const o = {}; o.o = o; await Task.run('t', o)`, 'input.o is a cycle'],
    [`await Task.run('t', { p: Task.run('u') })`, 'input.p is a promise'],
    [`return { x: Infinity }`, 'The return value.x is Infinity'],
    [`await Task.run('')`, 'needs a name'],
    [`const options = { timeOut: 5 }; await Task.run('t', 1, options)`, 'Did you mean timeout?'],
    [`const time = 'soon'; await Timer.sleep(time)`, 'not a duration'],
    [`await Workflow.run('w', 1, { id: 'other:2' })`, 'without ":"'],
    [`await Workflow.run('w', 1, { id: 'key' })`, 'other than "key"'],
  ])('refuses invalid values and options: %s', (source, message) => {
    expect(errorOf(source)).toMatchObject({ message: expect.stringContaining(message) });
  });

  it('may use only the names on its allow-list', () => {
    const program = compile(`await Task.run('other', 1, { queue: 'q' })`);
    const context = { executionId: 'e', rootId: 'e', parentId: null, workflow: 'w', version: 'v', startedAt: 0, tags: [] };
    for (const allow of [{ tasks: ['mine'] }, { queues: ['fast'] }]) {
      expect(turnOf(startRun(program, { context, allow }))).toMatchObject({ status: 'failed', error: { name: 'TypeError' } });
    }
    expect(turnOf(startRun(program, { context, allow: { tasks: ['other'], queues: ['q'] } }))).toMatchObject({ status: 'suspended' });
  });
});

describe('a signal', () => {
  it('goes to the oldest wait and is reported as consumed', () => {
    const { run } = begin(`const a = Signal.when('s'); const b = Signal.when('s'); return [await a, await b]`);
    const events: FlowEvent[] = ['x', 'y', 'z'].map((key) => ({ kind: 'signal', key, name: 's', payload: `"${key}"` }));
    expect(turnOf(run, events)).toMatchObject({
      output: '["x","y"]',
      consumedSignals: [
        { key: 'x', wait: 1 },
        { key: 'y', wait: 2 },
      ],
    });
  });

  it('is kept for a wait that is made later in the same turn', () => {
    const { run } = begin(`await Task.run('t'); return await Signal.when('s')`);
    const result = turnOf(run, [
      { kind: 'signal', key: 'k', name: 's', payload: '5' },
      { kind: 'completed', id: 1 },
    ]);
    expect(result).toMatchObject({ output: '5', consumedSignals: [{ key: 'k', wait: 2 }] });
  });

  it('is not taken by the loser of a race, even when a dead variable refers to it', () => {
    const source = `
      const lost = Signal.when('go')
      await Promise.race([lost, Task.run('quick')])
      await Task.run('between')
      return await Signal.when('go')`;
    const { program, run } = begin(source);
    const second = resume(program, run.snapshot(), [{ kind: 'completed', id: 2 }]);
    expect(kinds(second.result.effects)).toEqual(['task 3', 'withdraw 1']);
    const third = resume(program, second.run.snapshot(), [
      { kind: 'signal', key: 'k', name: 'go', payload: '"mine"' },
      { kind: 'completed', id: 3 },
    ]);
    expect(third.result).toMatchObject({ output: '"mine"', consumedSignals: [{ key: 'k', wait: 4 }] });
  });

  it('is kept for a loser that a live variable still reaches', () => {
    const source = `
      const lost = Signal.when('go')
      await Promise.race([lost, Task.run('quick')])
      await Task.run('between')
      return await lost`;
    const { program, run } = begin(source);
    const second = resume(program, run.snapshot(), [{ kind: 'completed', id: 2 }]);
    expect(kinds(second.result.effects)).toEqual(['task 3']);
    const third = resume(program, second.run.snapshot(), [
      { kind: 'signal', key: 'k', name: 'go', payload: '"kept"' },
      { kind: 'completed', id: 3 },
    ]);
    expect(third.result).toMatchObject({ output: '"kept"' });
  });

  it('rejects with TimeoutError when none comes in time', () => {
    const { run } = begin(`try { await Signal.when('s', { timeout: '1h' }) } catch (e) { return [e.name, e instanceof TimeoutError] }`);
    expect(turnOf(run, [{ kind: 'timeout', id: 1 }])).toMatchObject({ output: '["TimeoutError",true]' });
  });
});

describe('the message of an error', () => {
  it('names a signal that did not arrive and the time, even after a restore', () => {
    const { program, run } = begin(`try { await Signal.when('approval', { timeout: '36h' }) } catch (e) { return e.message }`);
    const after = resume(program, run.snapshot(), [{ kind: 'timeout', id: 1 }]);
    expect(after.result).toMatchObject({ output: JSON.stringify('No signal "approval" arrived within 1d 12h') });
  });

  it('names no time for a run that was stored when snapshots did not keep it', () => {
    const { program, run } = begin(`try { await Signal.when('approval', { timeout: 7654 }) } catch (e) { return e.message }`);
    const older = run.snapshot().replace(',7654', '');
    expect(older).not.toBe(run.snapshot());
    expect(resume(program, older, [{ kind: 'timeout', id: 1 }]).result).toMatchObject({
      output: '"No signal \\"approval\\" arrived in time"',
    });
  });

  it.each([
    [`await Timer.sleep(new Date('x'))`, 'A timer needs a valid date, not Invalid Date'],
    [`await Timer.until('tomorrow')`, 'A timer needs a valid date, not "tomorrow"'],
    [`await Timer.until()`, 'A timer needs a valid date, not undefined'],
    [
      `const n = 0; await Task.run('a', 1, { retry: { maxAttempts: n } })`,
      '"maxAttempts" of the retry of Task.run must be a whole number from 1 to 32767, not 0',
    ],
  ])('%s', (source, message) => {
    expect(errorOf(source).message).toContain(message);
  });
});

describe('the end of a run', () => {
  it('withdraws what still waits and logs what was dropped', () => {
    const { result } = begin(`
      (async () => { await Timer.sleep('1h') })();
      (async () => { throw new Error('lost') })();
      return 1`);
    expect(result).toMatchObject({ status: 'completed', output: '1' });
    expect(kinds(result.effects)).toEqual(['timer 1', 'log', 'log', 'withdraw 1']);
  });

  it('keeps the effects of a turn that fails', () => {
    const { result } = begin(`Task.run('a'); throw new RangeError('stop')`);
    expect(result).toMatchObject({ status: 'failed', error: { name: 'RangeError', message: 'stop' } });
    expect(kinds(result.effects)).toEqual(['task 1']);
  });

  it('fails on a rejection that no code can handle any more', () => {
    const { result } = begin(`(async () => { throw new RangeError('nobody') })(); await Timer.sleep('1h')`);
    expect(result).toMatchObject({ status: 'failed', error: { name: 'RangeError', message: 'nobody' } });
  });

  it('waits with a rejection that a live variable can still handle, across a restore', () => {
    const source = `
      const p = (async () => { throw new Error('later') })()
      await Timer.sleep('1h')
      try { await p } catch (e) { return e.message }`;
    const { program, run } = begin(source);
    expect(resume(program, run.snapshot(), [{ kind: 'timer', id: 1 }]).result).toMatchObject({ output: '"later"' });
  });

  it('only logs the failure of a task that is not awaited', () => {
    const { program, run } = begin(`Task.run('bad'); await Timer.sleep('1h'); return 1`);
    const error = { name: 'Error', message: 'lost' };
    const second = resume(program, run.snapshot(), [{ kind: 'failed', id: 1, error }]);
    expect(second.result.status).toBe('suspended');
    expect(second.result.effects).toMatchObject([{ kind: 'log', level: 'error', message: expect.stringContaining('lost') }]);
  });

  it('fails when nothing can move the run any more', () => {
    expect(errorOf('await new Promise(() => {})')).toMatchObject({ name: 'StuckError', code: 'FLOW_STUCK' });
  });
});

describe('cancellation', () => {
  it('rejects every pending call once; later calls are clean-up', () => {
    const source = `
      const seen = []
      const work = async (p) => { try { await p } catch (e) { seen.push([e.name, e instanceof CancelledError]) } }
      await Promise.all([work(Task.run('a')), work(Timer.sleep('1h')), work(Signal.when('s'))])
      await Task.run('clean-up')
      return seen`;
    const { program, run } = begin(source);
    const second = resume(program, run.snapshot(), [{ kind: 'cancel', reason: 'enough' }]);
    expect(kinds(second.result.effects)).toEqual(['withdraw 2', 'withdraw 3', 'task 4']);
    const third = resume(program, second.run.snapshot(), [{ kind: 'completed', id: 4 }]);
    expect(third.result).toMatchObject({ output: JSON.stringify(Array(3).fill(['CancelledError', true])) });
  });

  it('applied after a result of the same turn starts nothing that the flow requested in between', () => {
    const source = `
      const undo = []
      try {
        for (const what of ['reserve', 'charge', 'ship']) { await Task.run(what); undo.push(what); console.log(what) }
      } catch (e) {
        for (const what of undo) await Task.run('undo ' + what)
        throw e
      }`;
    const { program, run } = begin(source);
    const snapshot = run.snapshot();
    const events: FlowEvent[] = [{ kind: 'completed', id: 1 }, { kind: 'cancel' }];
    const second = resume(program, snapshot, events);
    expect(second.result).toMatchObject({
      status: 'suspended',
      cancelled: true,
      // Number 2 was assigned to the task that is not started.
      effects: [
        { kind: 'log', message: 'reserve' },
        { kind: 'task', id: 3, name: 'undo reserve' },
      ],
    });
    expect(resume(program, snapshot, events).result).toEqual(second.result);
    expect(resume(program, second.run.snapshot(), [{ kind: 'completed', id: 3 }]).result).toMatchObject({
      status: 'failed',
      error: { name: 'CancelledError' },
      cancelled: false,
    });
  });

  it('drops timers, waits, children, detached and forgotten calls of its turn, and requests to cancel them', () => {
    const source = `
      const old = Timer.sleep('9h')
      await Task.run('first')
      Task.run('forgotten')
      Task.run('told').cancel()
      Timer.sleep('1h').cancel()
      old.cancel()
      const seen = await Promise.allSettled([Timer.sleep('1h'), Signal.when('s'), Signal.when('ready'), Workflow.run('child'),
        Workflow.run('apart', 1, { detached: true }), Task.run('last'), old])
      return seen.map((each) => each.reason?.name ?? each.value)`;
    const { program, run } = begin(source);
    const events: FlowEvent[] = [
      { kind: 'signal', key: 'k', name: 'ready', payload: '"taken"' },
      { kind: 'completed', id: 2 },
      { kind: 'cancel' },
      { kind: 'failed', id: 3, error: { name: 'Error', message: 'never started' } },
    ];
    const { result } = resume(program, run.snapshot(), events);
    const refused = 'CancelledError';
    expect(result).toMatchObject({
      status: 'completed',
      output: JSON.stringify([refused, refused, 'taken', refused, refused, refused, refused]),
      cancelled: true,
      consumedSignals: [{ key: 'k', wait: 8 }],
    });
    expect(result.effects.filter(({ kind }) => kind !== 'log')).toEqual([{ kind: 'withdraw', id: 1, reason: 'cancelled' }]);
  });

  it('that comes after the main body has settled is not applied', () => {
    const { program, run } = begin(`const x = await Task.run('last'); Task.run('after'); return x`);
    const { result } = resume(program, run.snapshot(), [{ kind: 'completed', id: 1, value: '7' }, { kind: 'cancel' }]);
    expect(result).toMatchObject({ status: 'completed', output: '7', cancelled: false });
    expect(kinds(result.effects)).toEqual(['task 2']);
  });

  it('that comes before a result of the same turn hides that result', () => {
    const { program, run } = begin(`try { return await Task.run('last') } catch (e) { return e.name }`);
    const { result } = resume(program, run.snapshot(), [{ kind: 'cancel' }, { kind: 'completed', id: 1, value: '7' }]);
    expect(result).toMatchObject({ status: 'completed', output: '"CancelledError"', cancelled: true });
  });

  it('of one handle is an effect for a task and ends a timer at once', () => {
    const { result } = begin(`
      const task = Task.run('a'); const timer = Timer.sleep('1h')
      task.cancel(); timer.cancel()
      try { await timer } catch (e) { console.log(e.name) }
      await task`);
    expect(kinds(result.effects)).toEqual(['task 1', 'timer 2', 'cancel 1', 'withdraw 2', 'log']);
  });

  it('is offered by durable promises only', () => {
    expect(outputOf(`const t = Timer.sleep(1); return [typeof t.cancel, typeof Promise.resolve().cancel]`)).toEqual([
      'function',
      'undefined',
    ]);
  });
});

describe('what a turn reports for the history', () => {
  it('which wait took which signal, which timers and timeouts fired, and why the others are over', () => {
    const source = `
      const late = Signal.when('late', { timeout: '1m' }).catch((e) => e.name)
      await Promise.race([Timer.sleep('1h'), Timer.sleep('2h').then(() => 1)])
      const handle = Timer.sleep('3h')
      handle.catch(() => 0)
      handle.cancel()
      const both = [await Signal.when('s'), await Signal.when('s'), await late]
      await Promise.race([Signal.when('never').finally(() => console.log('end')), Task.run('quick')])
      await Signal.when('more')
      return both`;
    const { program, run, result } = begin(source);
    expect(result).toMatchObject({ fired: [], muted: [], consumedSignals: [], cancelled: false });
    const second = resume(program, run.snapshot(), [
      { kind: 'signal', key: 'a', name: 's' },
      { kind: 'timer', id: 2 },
      { kind: 'timer', id: 3 },
      { kind: 'timeout', id: 1 },
      { kind: 'signal', key: 'b', name: 's' },
      { kind: 'completed', id: 8 },
    ]);
    expect(second.result).toMatchObject({
      // Timer 3 had lost when its event came.
      fired: [2, 1],
      consumedSignals: [
        { key: 'a', wait: 5 },
        { key: 'b', wait: 6 },
      ],
      muted: [7],
    });
    expect(second.result.effects.filter(({ kind }) => kind === 'withdraw')).toEqual([
      { kind: 'withdraw', id: 4, reason: 'cancelled' },
      { kind: 'withdraw', id: 3, reason: 'lost' },
      { kind: 'withdraw', id: 5, reason: 'signalled' },
      { kind: 'withdraw', id: 6, reason: 'signalled' },
    ]);
    const third = resume(program, second.run.snapshot(), [
      { kind: 'timer', id: 3 },
      { kind: 'signal', key: 'c', name: 'more' },
    ]);
    expect(third.result).toMatchObject({ status: 'completed', fired: [], muted: [], consumedSignals: [{ key: 'c', wait: 9 }] });
    expect(third.result.effects.filter(({ kind }) => kind === 'withdraw')).toEqual([
      { kind: 'withdraw', id: 9, reason: 'signalled' },
      { kind: 'withdraw', id: 7, reason: 'ended' },
    ]);
  });
});

describe('a resume group', () => {
  it('forms when the combinator is the only reaction of its members', () => {
    const { result } = begin(`
      const alone = Task.run('alone')
      const shared = Task.run('shared'); shared.then(() => 1)
      await Promise.all([Task.run('a'), Task.run('b'), shared, Promise.allSettled([Task.run('c'), Task.run('d')])])
      await alone`);
    expect(result).toMatchObject({
      groups: [
        { members: [3, 4], until: 'all' },
        { members: [5, 6], until: 'settled' },
      ],
    });
  });

  it('gives the same result when its members arrive one by one or together', () => {
    const source = `
      const order = []
      const note = async (name) => { const r = await Task.run(name); order.push(r); return r }
      const all = await Promise.all([note('a'), note('b'), Task.run('c')])
      return [all, order]`;
    const events: FlowEvent[] = [3, 1, 2].map((id) => ({ kind: 'completed', id, value: String(id) }));
    const together = turnOf(begin(source).run, events);
    const { program, run } = begin(source);
    let last = { program, run, result: together };
    for (const event of events) last = resume(program, last.run.snapshot(), [event]);
    expect(last.result).toEqual(together);
  });
});
