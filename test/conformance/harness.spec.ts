// The harness itself: it restores where it says so, and it sees a difference when there is one.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { judgeCase, judgeGolden } from './compare.js';
import { programFrom } from './generate.js';
import { type Golden, parseGolden } from './golden.js';
import { runFlow } from './run-flow.js';
import { runInV8 } from './v8.js';

const INSTALLING = 180_000;
const golden = (source: string): Golden => parseGolden('spec', 'spec.flow', source);

const LOOP = golden(
  "// expect: 10\nlet sum = 0;\nfor (let i = 0; i < 5; i++) sum += await Task.run('t', i);\nconsole.log('done');\nreturn sum;\n",
);

describe('the harness', () => {
  beforeAll(async () => {
    await runInV8([]);
  }, INSTALLING);

  it('stores and restores at every suspension', () => {
    expect(runFlow(LOOP, 'restored').restores).toBe(5);
    expect(runFlow(LOOP, 'recompiled').restores).toBe(5);
    expect(runFlow(LOOP, 'straight').restores).toBe(0);
  });

  it('agrees with a golden that is right', async () => {
    const [v8] = await runInV8([LOOP]);
    expect(judgeGolden(LOOP, v8)).toEqual([]);
  });

  it('reports a wrong expectation', async () => {
    const wrong = golden(LOOP.source.replace('expect: 10', 'expect: 11'));
    const [v8] = await runInV8([wrong]);
    expect(judgeGolden(wrong, v8)).toEqual([expect.stringContaining('expected 11')]);
  });

  it('reports another result, another call and another log line in V8', async () => {
    const changed = golden(LOOP.source.replace('sum = 0', 'sum = 1').replace("'t', i", "'t', i + 1").replace("'done'", "'end'"));
    const [v8] = await runInV8([changed]);
    const { found } = judgeCase(LOOP, v8);
    expect(found.map((line) => line.split(':')[0])).toEqual(['result', 'calls', 'log']);
  });

  it('reports a call that was not withdrawn', () => {
    const kept = golden("// withdrawn: 1\nawait Task.run('t', 1);\nreturn 1;\n");
    expect(judgeGolden(kept, undefined)).toContain('durable call 1 was not withdrawn');
  });

  it('reports a program that should have been refused', () => {
    expect(judgeGolden(golden('// error 2:1: var\nconst a = 1;\n'), undefined)).toEqual(['it compiles, but an error was expected']);
  });

  it('reads every directive of a golden', () => {
    const { script, throws, log, runsInV8 } = golden(
      '// inputs: {"a": 1}\n// task a after 10s: 5\n// task a fails: E: no\n// task b never\n// signal s at 2: 7\n// cancel at 3\n// throws: E\n// log: x\n// v8: no – why\n',
    );
    expect(script).toEqual({
      inputs: '{"a":1}',
      results: { a: [{ value: '5', afterMs: 10_000 }, { error: { name: 'E', message: 'no' } }], b: [{ never: true }] },
      signals: [{ name: 's', payload: '7', at: 2 }],
      cancelAt: 3,
      withdrawn: [],
      muted: [],
    });
    expect([throws, log, runsInV8]).toEqual(['E', ['x'], false]);
  });

  it('writes the same program from the same tape', () => {
    const tape = Array.from({ length: 100 }, (_, index) => (index * 7919) % 1000);
    expect(programFrom(tape)).toBe(programFrom(tape));
    expect(programFrom([]).length).toBeLessThan(programFrom(tape).length);
  });
});
