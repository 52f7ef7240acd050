// Carefully edited snapshots, meant to make a VM write where it should not or never end: refused, or only their own run fails.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compile, describe as describeRun, type FlowEvent, FlowSnapshotError, type Program, restoreRun } from '../../libs/flow/index.js';
import { begin, CONTEXT, HOST } from '../support/flow-driver.js';

const LIMITS = { fuelPerTurn: 500_000, heapBytes: 8 * 1024 * 1024 };

/** Restores, describes and continues it; what may come out is a refusal or a typed outcome. */
function outcomeOf(program: Program, text: string, events: FlowEvent[]): string {
  let run: ReturnType<typeof restoreRun>;
  try {
    JSON.stringify(describeRun(program, text));
    run = restoreRun(program, text, { context: CONTEXT, limits: LIMITS });
  } catch (error) {
    if (error instanceof FlowSnapshotError) return 'refused';
    throw error;
  }
  let result = run.turn(events, HOST);
  for (let slices = 0; result.status === 'yielded'; slices++) {
    if (slices > 1_000) throw new Error('it hangs');
    result = run.turn([], HOST);
  }
  if (result.status === 'suspended') run.snapshot();
  return result.status;
}

const TYPED = ['refused', 'completed', 'failed', 'suspended'];

const SOURCES = [
  `const d = new Date(5); const x = await Task.run('t'); return [d, x]`,
  `const { promise, resolve } = Promise.withResolvers(); await Task.run('t'); resolve(1); return await promise`,
  `const f = Promise.all([Task.run('t'), Signal.when('s')]).finally(() => 1); return await f`,
  `const it = new Map([[1, 2], [3, 4]]).entries(); it.next(); await Task.run('t'); return [...it]`,
  `for (const k in { a: 1, b: 2 }) { try { await Task.run(k) } finally { console.log(k) } } return 1`,
  `const e = new Error('x', { cause: new TypeError('y') }); await Task.run('t'); throw e`,
  `let n = 0; const inc = () => ++n; const g = async () => { await Timer.sleep(1); return inc() }; return await Promise.race([g(), g(), Task.run('t')])`,
  `const o = Object.freeze({ a: [1, , 3], s: new Set([1]), fn: Math.max }); await Task.run('t'); return o.fn(...o.a)`,
];
const CASES = SOURCES.map((source) => {
  const { program, run, result } = begin(source);
  const ids = result.status === 'suspended' ? result.effects.flatMap((each) => ('id' in each ? [each.id] : [])) : [];
  const events: FlowEvent[] = [
    ...ids.flatMap((id): FlowEvent[] => [
      { kind: 'completed', id, value: '{"v":1}' },
      { kind: 'timer', id },
      { kind: 'timeout', id },
    ]),
    { kind: 'signal', key: 'k', name: 's', payload: '1' },
  ];
  return { source, program, text: run.snapshot(), events };
});

describe('an edited snapshot', () => {
  it.each(CASES.map((each) => [each.source, each] as const))(
    'continues when it was not edited: %s',
    (_source, { program, text, events }) => {
      expect(['completed', 'failed', 'suspended']).toContain(outcomeOf(program, text, events));
    },
  );

  it.each([
    ['a date beyond all dates', 0, /\[11,5\]/, '[11,1e300]'],
    ['a date that is a fraction', 0, /\[11,5\]/, '[11,0.5]'],
    ['a resolving function bound to a built-in', 1, '"Promise.resolveFunction",[1,0]', '"Promise.resolveFunction",[7,"Math.max"]'],
    ['a resolving function bound to nothing', 1, '"Promise.resolveFunction",[1,0],[0]', '"Promise.resolveFunction"'],
    ['a bound function that does not exist', 1, /Promise\.resolveFunction/, 'constructor'],
    ['a built-in that does not exist', 7, /Math\.max/, '__proto__'],
    ['an error kind that does not exist', 5, /TypeError/, 'constructor'],
    ['a next number that is not exact', 0, /^\[2,("\w+"),2,/, '[2,$1,9007199254740991,'],
    ['a next number that was assigned before', 0, /^\[2,("\w+"),2,/, '[2,$1,1,'],
    ['another format', 0, /^\[2,/, '[-1,'],
    ['a format that is not a number', 0, /^\[2,/, '["__proto__",'],
    ['a program that is not a string', 0, /"\w{12}"/, '{}'],
    ['the name of another program', 0, /"\w{12}"/, '"__proto__"'],
  ])('is refused: %s', (_what, at, from, to) => {
    const { program, text, events } = CASES[at];
    const damaged = text.replace(from, to);
    expect(damaged).not.toBe(text);
    expect(outcomeOf(program, damaged, events)).toBe('refused');
  });

  it('of another program is refused or fails', () => {
    for (const { program } of CASES) {
      for (const { text, events } of CASES) expect(TYPED).toContain(outcomeOf(program, text, events));
    }
  });

  it('that is cut off anywhere is refused', () => {
    for (const { program, text, events } of CASES) {
      for (let length = 0; length < text.length; length += 7) expect(outcomeOf(program, text.slice(0, length), events)).toBe('refused');
    }
  });

  it('with prototype names as keys only has more data', () => {
    const { program, text, events } = CASES[7];
    const damaged = text.replace('{"a":', '{"__proto__":{"polluted":1},"constructor":1,"then":[7,"Math.max"],"a":');
    expect(damaged).not.toBe(text);
    expect(TYPED).toContain(outcomeOf(program, damaged, events));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('with a huge count of holes or a far member ends at a limit', () => {
    const { program, text, events } = CASES[7];
    expect(outcomeOf(program, text.replace('[3,1]', '[3,4294967295]'), events)).toBe('refused');
    expect(TYPED).toContain(outcomeOf(program, text.replace('[3,1]', '[3,16000000]'), events));
    const all = CASES[2];
    const far = all.text.replace(/\[3,(\[[^\]]*\]),1\]/, '[3,$1,4294967290]');
    expect(far).not.toBe(all.text);
    expect(TYPED).toContain(outcomeOf(all.program, far, all.events));
  });

  it('ends in a refusal or a typed outcome whatever is changed in its text', () => {
    const by = fc.constantFrom('', '0', '1', '9', '20', '"', '[', ']', '[]', '{}', '[1,0]', '[20]', '[19]', '[4]', '-', 'null', '1e300');
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: CASES.length - 1 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        by,
        (index, place, replacement) => {
          const { program, text, events } = CASES[index];
          const at = Math.floor(place * text.length);
          expect(TYPED).toContain(outcomeOf(program, text.slice(0, at) + replacement + text.slice(at + 1), events));
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe('describing a run', () => {
  it.each([
    ['promises that share each other', `let p = Task.run('x'); for (let i = 0; i < 60; i++) p = Promise.all([p, p]); return await p`],
    [
      'data that shares itself',
      `let a = Array(100).fill(0); for (let i = 0; i < 7; i++) a = Array(100).fill(a); await Task.run('x'); return a.length`,
    ],
    [
      'a long chain of branches',
      `const f = async (n) => { await null; if (n === 0) return await Task.run('x'); return await f(n - 1) }; return await f(20000)`,
    ],
    ['a deep nest of combinators', `let p = Task.run('x'); for (let i = 0; i < 20000; i++) p = Promise.race([p]); return await p`],
    [
      'a large Map with many iterators',
      `const m = new Map(); for (let i = 0; i < 50000; i++) m.set(i, i); const l = []; for (let i = 0; i < 50000; i++) l.push(m.keys()); await Task.run('x'); return l.length`,
    ],
  ])('ends soon with %s', (_what, source) => {
    const program = compile(source);
    const { run, result } = begin(program);
    expect(result.status).toBe('suspended');
    const text = JSON.stringify(describeRun(program, run.snapshot()));
    expect(text.length).toBeLessThan(1_000_000);
  });
});
