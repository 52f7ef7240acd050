// Snapshots: everything survives, nothing dead is kept, old ones load forever, and the cost grows with what is live.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { begin, CONTEXT, resume, turnOf } from '../../../test/support/flow-driver.js';
import {
  compile,
  describe as describeRun,
  type FlowEvent,
  FlowSnapshotError,
  loadProgram,
  restoreRun,
  snapshotHeader,
  startRun,
} from '../index.js';
import type { Vm } from '../vm/vm.js';
import { upgrade } from './upgrade.js';
import { SnapshotWriter } from './write.js';

const CORPUS = join(process.cwd(), 'libs/flow/snapshot/corpus');

function afterRestore(source: string, events: FlowEvent[] = [{ kind: 'completed', id: 1 }]): unknown {
  const { run } = begin(source);
  // A freshly compiled program must work as well as the one that wrote the snapshot.
  const { result } = resume(compile(source, { file: 'spec.flow' }), run.snapshot(), events);
  if (result.status !== 'completed') throw new Error(JSON.stringify(result));
  return JSON.parse(result.output!);
}

describe('a snapshot', () => {
  it('keeps every value that JSON cannot write', () => {
    const source = `
      const values = [undefined, NaN, -0, Infinity, -Infinity, new Date(NaN), '\\ud800', 'a\\0b', [1, , 3]]
      await Task.run('t')
      const [u, nan, zero, inf, minus, date, lone, nul, holes] = values
      return [u === undefined, Object.is(nan, NaN), Object.is(zero, -0), inf === Infinity, minus === -Infinity,
        Object.is(date.getTime(), NaN), lone.length === 1 && lone === '\\ud800', nul === 'a\\0b', 1 in holes, holes.length]`;
    expect(afterRestore(source)).toEqual([true, true, true, true, true, true, true, true, false, 3]);
  });

  it('keeps as many holes as the heap had room for', () => {
    const { program, run } = begin(`const a = [1, , 3]; await Task.run('t'); return [a.length, a[0], a.at(-1)]`);
    const holes = 2 ** 24 + 1;
    const text = run.snapshot().replace('[3,1]', `[3,${holes}]`);
    const restored = restoreRun(program, text, { context: CONTEXT, limits: { heapBytes: 8 * (holes + 100) } });
    expect(turnOf(restored, [{ kind: 'completed', id: 1 }])).toMatchObject({ status: 'completed', output: `[${holes + 2},1,3]` });
    expect(() => restoreRun(program, text, { context: CONTEXT })).toThrow(FlowSnapshotError);
  });

  it('keeps shared objects shared and cycles closed', () => {
    const source = `
      const a = { n: 1 }; const b = { a, list: [a] }; a.b = b
      const map = new Map([[a, b]]); const set = new Set([a])
      await Task.run('t')
      a.n = 2
      return [b.a.n, b.list[0].n, a.b === b, map.get(b.a) === b, set.has(a), b.a.b.a === a]`;
    expect(afterRestore(source)).toEqual([2, 2, true, true, true, true]);
  });

  it('keeps keys in the order of JavaScript, and names of prototypes as data', () => {
    const source = `
      const o = JSON.parse('{"b":1,"2":2,"__proto__":3,"constructor":4,"1":5}')
      await Task.run('t')
      return [Object.keys(o), o.__proto__, o.constructor]`;
    expect(afterRestore(source)).toEqual([['1', '2', 'b', '__proto__', 'constructor'], 3, 4]);
  });

  it('continues iterators where they were, even after deletions', () => {
    const source = `
      const map = new Map([[1, 'a'], [2, 'b'], [3, 'c'], [4, 'd']]); const seen = []
      for (const [key, value] of map) { seen.push(value); map.delete(key); if (key === 2) { map.delete(3); await Task.run('t'); map.set(5, 'e') } }
      return seen`;
    expect(afterRestore(source)).toEqual(['a', 'b', 'd', 'e']);
  });

  it('keeps frozen objects, extra properties, errors and built-ins', () => {
    const source = `
      const frozen = Object.freeze([1]); const f = () => 1; f.tag = 'x'
      const error = new RangeError('far', { cause: frozen }); error.code = 'E'
      const max = Math.max; const m = Math
      const stack = error.stack
      await Task.run('t')
      let refused = false
      try { frozen.push(2) } catch (e) { refused = e.name === 'TypeError' }
      return [refused, f.tag, f.name, error.cause === frozen, error.code, error.stack === stack, max(1, 2), m === Math, error instanceof RangeError]`;
    expect(afterRestore(source)).toEqual([true, 'x', 'f', true, 'E', true, 2, true, true]);
  });

  it('refers to Context, which is passed in again and cannot be changed', () => {
    const source = `
      const { tags } = Context; const c = Context; let refused = 0
      for (const change of [() => tags.push('x'), () => { c.workflow = 'x' }]) try { change() } catch { refused++ }
      await Task.run('t')
      return [tags === Context.tags, c === Context, refused]`;
    expect(afterRestore(source)).toEqual([true, true, 2]);
  });

  it('keeps a variable in its dead zone', () => {
    const source = `
      const read = () => late
      await Task.run('t')
      let name
      try { read() } catch (e) { name = e.name }
      let late = 7
      return [name, read()]`;
    expect(afterRestore(source)).toEqual(['ReferenceError', 7]);
  });

  it('does not contain dead variables', () => {
    const { run } = begin(`
      const secret = 'never needed again'; const kept = 'needed later'
      console.log(secret)
      await Task.run('t')
      return kept`);
    expect(run.snapshot()).toContain('needed later');
    expect(run.snapshot()).not.toContain('never needed');
  });

  it('contains Inputs only while something can read them', () => {
    const used = begin(`await Task.run('t'); return Inputs.a`, { inputs: { a: 'payload' } });
    const unused = begin(`const { a } = Inputs; await Task.run('t', a)`, { inputs: { a: 'payload' } });
    expect(used.run.snapshot()).toContain('payload');
    expect(unused.run.snapshot()).not.toContain('payload');
  });

  it('holds a chain of any length without using the host stack', () => {
    const source = `
      let list = null
      for (let i = 0; i < 50000; i++) list = { next: list }
      await Task.run('t')
      let n = 0
      for (let at = list; at; at = at.next) n++
      return n`;
    expect(afterRestore(source)).toBe(50_000);
  });

  it('grows with what is live, not with what happened', () => {
    const source = `
      let sum = 0
      for (let i = 0; i < 1000; i++) sum += await Task.run('t', i)
      return sum`;
    let { program, run } = begin(source);
    const sizes: number[] = [];
    for (let id = 1; id < 1000; id++) {
      const text = run.snapshot();
      sizes.push(text.length);
      run = resume(program, text, [{ kind: 'completed', id, value: '1' }]).run;
    }
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(12);
  });

  it('can be taken only of a suspended run', () => {
    const { run } = begin('return 1');
    expect(() => run.snapshot()).toThrow('suspended');
  });

  it('is upgraded one format at a time', () => {
    const upgraders = new Map([
      [1, (old: unknown[]) => [2, ...old.slice(1), 'two'] as never],
      [2, (old: unknown[]) => [3, ...old.slice(1), 'three'] as never],
    ]);
    expect(upgrade([1, 'one'], upgraders, 3)).toEqual([3, 'one', 'two', 'three']);
    expect(() => upgrade([4], upgraders, 3)).toThrow(FlowSnapshotError);
    expect(() => upgrade([0], upgraders, 3)).toThrow(FlowSnapshotError);
  });

  it('names its program and is refused by any other', () => {
    const source = `const x = await Task.run('t'); return x`;
    const { program, run } = begin(source);
    const text = run.snapshot();
    expect(snapshotHeader(text)).toEqual({ format: 2, fingerprint: program.fingerprint });
    // Nothing in it differs but a constant that the rest of the run does not need.
    const other = compile(source.replace("'t'", "'u'"));
    expect(() => restoreRun(other, text, { context: CONTEXT })).toThrow(
      expect.objectContaining({ code: 'FLOW_OTHER_PROGRAM', message: expect.stringContaining(`program ${program.fingerprint}`) }),
    );
    expect(() => describeRun(other, text)).toThrow(expect.objectContaining({ code: 'FLOW_OTHER_PROGRAM' }));
  });

  it.each([
    ['format', (text: string) => text.replace('[2,', '[3,')],
    ['built-in', (text: string) => text.replace('"Math.max"', '"Math.maximum"')],
  ])('with a %s of a newer release is distinguished from a damaged one', (_what, change) => {
    const { program, run } = begin(`const f = Math.max; const x = await Task.run('t'); return f(x, 1)`);
    const text = change(run.snapshot());
    expect(text).not.toBe(run.snapshot());
    expect(() => restoreRun(program, text, { context: CONTEXT })).toThrow(expect.objectContaining({ code: 'FLOW_NEWER_FORMAT' }));
    expect(snapshotHeader(text).fingerprint).toBe(program.fingerprint);
    expect(() => restoreRun(program, text.slice(0, -1), { context: CONTEXT })).toThrow(expect.objectContaining({ code: 'FLOW_SNAPSHOT' }));
  });

  it.each(['', '{}', '[]', '["2"]', 'null'])('has no header when it is not a snapshot: %s', (text) => {
    expect(snapshotHeader(text)).toEqual({ format: Number.NaN, fingerprint: undefined });
  });

  it.each(readdirSync(CORPUS))('loads forever: %s', (file) => {
    const stored = JSON.parse(readFileSync(join(CORPUS, file), 'utf8'));
    const { result } = resume(loadProgram(stored.program), stored.snapshot, stored.events);
    expect(result).toMatchObject({ status: 'completed', output: stored.output });
  });
});

describe('the description of a snapshot', () => {
  it('shows the line, the stack, the variables and what each branch waits for', () => {
    const { program, run } = begin(`
const who = 'kim'
async function pay(x) {
  const amount = x * 2
  return amount + await Task.run('pay', amount)
}
const other = (async () => { await Promise.all([Timer.sleep('1h'), Task.run('z')]) })()
const total = await pay(5)
await other
return [total, who]`);
    const { branches, pending } = describeRun(program, run.snapshot());
    expect(branches[0].waitsFor).toBe('task "pay"');
    expect(branches[0].stack.map(({ function: name, line }) => [name, line])).toEqual([
      ['pay', 5],
      ['main', 8],
    ]);
    expect(branches[0].stack[1].locals).toEqual({ who: 'kim', other: '[promise]' });
    expect(branches[1].calls.sort()).toEqual([1, 2]);
    expect(pending.map(({ kind, name }) => `${kind} ${name}`)).toEqual(['timer 3600000 ms', 'task z', 'task pay']);
  });

  it('says what the branches of a race wait for in the order of the source, however they are labelled', () => {
    const { program, run } = begin(`
      const due = async () => { await Timer.sleep('90m'); return 'due' }
      await Promise.race([
        Signal.when('paid').then(() => 'paid'),
        due(),
        new Promise((resolve) => resolve(Task.run('ask'))),
        Promise.all([Task.run('a'), Task.run('b').catch(() => null)]).then(() => 'both'),
      ])`);
    const main = describeRun(program, run.snapshot()).branches.find(({ waitsFor }) => waitsFor.startsWith('Promise.race'));
    expect(main).toMatchObject({
      waitsFor: 'Promise.race: signal "paid", timer 1h 30m, task "ask", Promise.all: task "a", task "b"',
      calls: [1, 2, 3, 4, 5],
    });
  });

  it('distinguishes a wait that takes no signals any more from one that does', () => {
    const { program, run } = begin(`
      const guarded = async () => { try { await Signal.when('go') } finally { console.log('end') } }
      await Promise.race([guarded(), Task.run('quick')])
      await Signal.when('go')`);
    const { run: later } = resume(program, run.snapshot(), [{ kind: 'completed', id: 2 }]);
    expect(describeRun(program, later.snapshot()).branches.map(({ waitsFor }) => waitsFor)).toEqual([
      'signal "go"',
      'signal "go" (which it no longer takes: its race is decided)',
    ]);
  });
});

describe('the snapshot writer', () => {
  // An object that is held twice if `second` is `a`, and as many numbers as asked for.
  const flow = (numbers: number, second: string) => `
    const a = { n: -0, "b c": [1, , "x"], d: { e: null, f: undefined } }; const again = ${second}
    const many = Array.from({ length: ${numbers} }, (_, i) => i); many[7] = [{ deep: a.n }]; await Task.run('t')
    a.n = 1; return [again.n, many.length, many[7][0].deep, Object.keys(a).join()]`;

  it.each([
    ['a small tree', 10, '{ n: 5 }', [5, 10]],
    ['a small state that holds an object twice', 10, 'a', [1, 10]],
    ['a large tree', 30_000, '{ n: 5 }', [5, 30_000]],
    ['a large state that holds an object twice', 30_000, 'a', [1, 30_000]],
  ])('writes %s as one text, at once and in steps, and it goes on as if it had not been stored', (_, numbers, second, [n, length]) => {
    const { program, run } = begin(flow(numbers, second));
    const text = run.snapshot();
    const { vm } = run as unknown as { vm: Vm };
    for (const isTree of [true, false]) {
      for (const fuel of [Number.POSITIVE_INFINITY, 100]) {
        vm.isTree = isTree;
        const writer = new SnapshotWriter(vm);
        let written = writer.advance(fuel);
        for (let steps = 0; written === undefined; steps++) {
          if (steps > numbers) throw new Error('it does not end');
          written = writer.advance(fuel);
        }
        expect(written).toBe(text);
        expect(vm.isTree).toBe(second !== 'a' && numbers < 20_000);
      }
    }
    const { result } = resume(program, text, [{ kind: 'completed', id: 1 }]);
    expect(result).toMatchObject({ status: 'completed', output: JSON.stringify([n, length, 0, 'n,b c,d']) });
  });

  it('takes more than one slice for a large state, and none for a small one', () => {
    const slices = (numbers: number) => {
      const run = startRun(compile(flow(numbers, '{ n: 5 }'), { file: 'spec.flow' }), {
        context: CONTEXT,
        limits: { fuelPerSlice: 50_000 },
      });
      turnOf(run);
      const { vm } = run as unknown as { vm: Vm };
      const writer = new SnapshotWriter(vm);
      let count = 1;
      while (writer.advance(50_000) === undefined) count++;
      return count;
    };
    expect([slices(10), slices(1_000)]).toEqual([1, 1]);
    expect(slices(100_000)).toBeGreaterThan(10);
  });
});
