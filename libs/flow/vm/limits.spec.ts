// Limits: whatever a flow does, it ends in bounded time and memory with an error that it cannot catch.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { begin, CONTEXT, errorOf, HOST, outputOf, resume } from '../../../test/support/flow-driver.js';
import { compile, startRun } from '../index.js';

const SMALL = { fuelPerTurn: 300_000, heapBytes: 4 * 1024 * 1024 };

describe('fuel', () => {
  it.each([
    'while (true) {}',
    'for (;;) continue',
    'a: for (;;) { for (;;) continue a }',
    'do {} while (true)',
    'while (true) await null',
    'const f = () => Promise.resolve().then(f); f(); await Timer.sleep(1); for (;;) await 1',
    'for (;;) { try { for (;;) {} } catch {} finally { for (;;) {} } }',
    'for (;;) [1, 2, 3].map((x) => x)',
    'for (;;) [3, 1, 2].sort((a, b) => a - b)',
    'const o = { valueOf: () => 1 }; for (;;) o + 1',
  ])('ends %s', (source) => {
    const error = { name: 'LimitError', code: 'FLOW_LIMIT_FUEL', message: expect.stringContaining('raise limits.fuelPerTurn') };
    expect(errorOf(source, { limits: SMALL })).toMatchObject(error);
  });

  it('is full again for every turn, so that an endless loop of durable awaits is legal', () => {
    const program = compile(`let n = 0; for (;;) { for (let i = 0; i < 1000; i++) n++; await Timer.sleep(1) }`);
    const run = startRun(program, { context: CONTEXT, limits: { fuelPerTurn: 20_000 } });
    let result = run.turn([], HOST);
    for (let id = 1; id < 200; id++) result = run.turn([{ kind: 'timer', id }], HOST);
    expect(result.status).toBe('suspended');
  });

  it('yields to the host in slices without changing the result', () => {
    const source = `let log = ''; const f = async (n) => { for (let i = 0; i < 20; i++) { log += n; await null } }; await Promise.all([f(1), f(2)]); return log`;
    const run = startRun(compile(source), { context: CONTEXT, limits: { fuelPerSlice: 7 } });
    let yields = 0;
    let result = run.turn([], HOST);
    for (; result.status === 'yielded'; yields++) result = run.turn([], HOST);
    expect(yields).toBeGreaterThan(20);
    expect(result).toMatchObject({ output: JSON.stringify(outputOf(source)) });
  });

  it('is never exceeded, whatever the limit', () => {
    const source = 'let s = 0; for (let i = 0; ; i++) { s += [i, 2].map((x) => x * 2).length }';
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50_000 }), (fuelPerTurn) => {
        expect(errorOf(source, { limits: { fuelPerTurn } }).code).toBe('FLOW_LIMIT_FUEL');
      }),
      { numRuns: 30 },
    );
  });
});

describe('heap', () => {
  it.each([
    `let s = 'x'; for (;;) s += s`,
    `let s = "x"; for (;;) s = \`\${s}\${s}\``,
    `return 'x'.repeat(2 ** 28)`,
    `const a = []; for (;;) a.push('x'.repeat(100000))`,
    `const a = []; for (;;) a.push('x'.padEnd(100000 + a.length))`,
    `const a = []; a[4294967290] = 1`,
    `const a = []; a.length = 4294967295`,
    `let a = [1]; for (;;) a = a.concat(a)`,
    `let a = [1]; for (;;) a = [...a, ...a]`,
    `const m = new Map(); for (let i = 0; ; i++) m.set(i, i)`,
    `const fs = []; for (;;) { let x = 1; fs.push(() => x) }`,
    `const es = []; for (;;) es.push(new Error('x'))`,
    `const ps = []; for (;;) ps.push(Promise.resolve(1))`,
    `const o = {}; for (let i = 0; ; i++) o['k' + i] = i`,
  ])('ends %s', (source) => {
    const error = { name: 'LimitError', code: 'FLOW_LIMIT_HEAP', message: expect.stringContaining('raise limits.heapBytes') };
    expect(errorOf(source, { limits: { heapBytes: SMALL.heapBytes } })).toMatchObject(error);
  });

  it('counts what is reachable, not garbage', () => {
    const source = `let x; for (let i = 0; i < 100000; i++) x = { i, text: 'number ' + i }; return x.i`;
    expect(outputOf(source, { limits: { heapBytes: 1024 * 1024 } })).toBe(99_999);
  });

  it('counts a shared string once where it was made once', () => {
    const source = `const s = 'x'.repeat(1000); const a = []; for (let i = 0; i < 50000; i++) a.push(s); return a.length`;
    expect(outputOf(source, { limits: { heapBytes: 2 * 1024 * 1024 } })).toBe(50_000);
  });
});

describe('a string that grows', () => {
  it('costs what is added: a CSV of a megabyte takes a small part of the default fuel', () => {
    const source = 'let csv = ""; for (let i = 0; i < 25_000; i++) csv += i + ",a name,another name,1234.50\\n"; return csv.length';
    expect(outputOf(source, { limits: { fuelPerTurn: 20_000_000 } })).toBeGreaterThan(750_000);
  });

  it('costs the same with a template', () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is source of a flow.
    const source = 'let csv = ""; for (let i = 0; i < 20_000; i++) csv = `${csv}${i},a name,another name,1234.50\\n`; return csv.length';
    expect(outputOf(source, { limits: { fuelPerTurn: 20_000_000 } })).toBeGreaterThan(600_000);
  });

  it.each(['s.charCodeAt(0)', 's[0]', 's.slice(1, 2)', 's < t', 'for (const c of s) break'])(
    'costs all of it when every step is read by %s',
    (read) => {
      const source = `let s = 'x'.repeat(1e6); const t = 'x'.repeat(1e6); for (let i = 0; i < 100; i++) { s += 'y'; ${read} }`;
      expect(errorOf(source, { limits: { fuelPerTurn: (100 * 1e6) / 16 } }).code).toBe('FLOW_LIMIT_FUEL');
    },
  );
});

describe('sizes that are refused', () => {
  it('are the properties of one object, unless enough of them are deleted', () => {
    const grow = 'const o = {}; for (let i = 0; i < 150_000; i++) { o["k" + i] = 1; if (deletes) delete o["k" + (i - 10)] }';
    expect(outputOf(`const deletes = false; try { ${grow} } catch (e) { return [e.name, e.message] }`)).toEqual([
      'RangeError',
      'An object can have 100000 properties in Flow. Use a Map for more.',
    ]);
    expect(outputOf(`const deletes = true; ${grow} return Object.keys(o).length`)).toBe(10);
  });

  it('are combining characters in a row, in normalize()', () => {
    expect(outputOf('return ("a" + "\\u0301".repeat(2000)).normalize("NFD").length')).toBe(2_001);
    expect(errorOf('return ("a" + "\\u0301".repeat(2001)).normalize("NFD")')).toMatchObject({ name: 'RangeError' });
  });
});

describe('the end of a turn', () => {
  it('writes a large snapshot in slices, and the same as at once', () => {
    const program = compile('const l = []; for (let i = 0; i < 2000; i++) l.push([i, l]); await Timer.sleep(1); return l.length');
    const texts = [200_000, 1_000].map((fuelPerSlice) => {
      const run = startRun(program, { context: CONTEXT, limits: { fuelPerSlice } });
      while (run.turn([], HOST).status === 'yielded');
      return run.snapshot();
    });
    expect(texts[1]).toBe(texts[0]);
  });

  it('keeps long arrays inside long arrays, and their holes', () => {
    const program = compile(`
      const inner = (n) => { const a = Array(1_500); a[n] = n; a[1_400] = n; return a };
      const l = []; for (let i = 0; i < 1_201; i++) l.push(i % 400 === 199 || i === 1_200 ? inner(i) : i);
      await Timer.sleep(1);
      return [l.length, l[199].length, 5 in l[199], l[199][199], l[599][1_400], l[999][999], l[1_198], l[1_200][1_200]]`);
    const run = startRun(program, { context: CONTEXT, limits: { fuelPerSlice: 1_000 } });
    while (run.turn([], HOST).status === 'yielded');
    const { result } = resume(program, run.snapshot(), [{ kind: 'timer', id: 1 }]);
    expect(result).toMatchObject({ output: JSON.stringify([1_201, 1_500, false, 199, 599, 999, 1_198, 1_200]) });
  });
});

describe('the other limits', () => {
  it('end calls that are nested deeper than the setting, and name it', () => {
    const source = 'const depth = (n) => (n === 0 ? 0 : 1 + depth(n - 1)); return depth(Inputs)';
    expect(outputOf(source, { inputs: 90, limits: { callDepth: 100 } })).toBe(90);
    expect(outputOf(source, { inputs: 20_000, limits: { callDepth: 30_000 } })).toBe(20_000);
    expect(errorOf(source, { inputs: 110, limits: { callDepth: 100 } }).message).toBe(
      'The run used more than 100 calls inside one another. Check that the recursion ends, write it as a loop, or raise limits.callDepth.',
    );
  });

  it.each([
    ['function f() { return f() } f()', 'FLOW_LIMIT_CALL_DEPTH'],
    ['function f() { try { return f() } catch { return f() } finally { f() } } f()', 'FLOW_LIMIT_CALL_DEPTH'],
    ['const f = () => [1].map(() => f()); f()', 'FLOW_LIMIT_CALL_DEPTH'],
    [`const o = { toString: () => \`\${o}\` }; String(o)`, 'FLOW_LIMIT_CALL_DEPTH'],
    ['for (;;) Task.run("x")', 'FLOW_LIMIT_PENDING_EFFECTS'],
  ])('end %s', (source, code) => {
    expect(errorOf(source)).toMatchObject({ name: 'LimitError', code });
  });

  it('fail a run whose snapshot is too big', () => {
    const { result } = begin(`const big = 'x'.repeat(5000); await Task.run('t'); return big`, { limits: { snapshotBytes: 4_000 } });
    expect(result).toMatchObject({ status: 'failed', error: { code: 'FLOW_LIMIT_SNAPSHOT' } });
  });

  it('drop log lines beyond their number, with a last line that says so', () => {
    const { result } = begin(`for (let i = 0; i < 50; i++) console.log(i); return 1`, { limits: { logLines: 10 } });
    expect(result.effects).toHaveLength(11);
    expect(result.effects[10]).toMatchObject({ kind: 'log', level: 'warn', message: expect.stringContaining('dropped') });
  });

  it('refuse a payload that is too long, with an error that the flow may catch', () => {
    const source = `try { await Task.run('t', 'x'.repeat(2000)) } catch (e) { return e.name }`;
    expect(outputOf(source, { limits: { payloadBytes: 1_000 } })).toBe('RangeError');
  });
});

describe('the host', () => {
  it.each([
    'hide({}).constructor',
    'hide([]).constructor',
    'hide("").constructor',
    'hide((1)).constructor',
    'hide((() => 1)).constructor',
    'Math["constructor"]',
    'hide(Promise.resolve()).constructor',
    'hide(new Map()).constructor',
    'hide(new Error("x")).constructor',
    'Context.constructor',
    '({}).__proto__',
    '[]["__pro" + "to__"]',
    '({}).__defineGetter__',
    'hide((() => 1)).prototype',
    'Object["prototype"]',
    'Promise["proto" + "type"]',
    'Math.max.constructor',
    'hide((function f() {})).caller',
  ])('is not reached through %s', (expression) => {
    // What the compiler can see it refuses; here it cannot.
    expect(errorOf(`const hide = (value) => value; return ${expression}`)).toMatchObject({
      name: 'TypeError',
      message: expect.stringContaining('not supported'),
    });
  });

  it('does not appear in errors that built-ins throw', () => {
    const source = `try { null.x } catch (e) { return [e.stack.includes('spec.flow:1'), e.stack.includes('.ts'), e.stack.includes('node:')] }`;
    expect(outputOf(source)).toEqual([true, false, false]);
  });

  it.each(['const a = []; a[100_000_000] = 1', 'const a = []; a.length = 4_294_967_295', 'Array(100_000_000)', 'Array(9_000_000).join()'])(
    'is not filled with holes by %s',
    (source) => {
      expect(errorOf(source)).toMatchObject({
        name: 'LimitError',
        code: 'FLOW_LIMIT_HEAP',
        message: expect.stringContaining('a hole in an array'),
      });
    },
  );

  it('has room for the holes that docs/language.md promises', () => {
    expect(outputOf('const a = []; a[4_000_000] = 1; return [a.length, 5 in a, Array(4_000_000).length]')).toEqual([
      4_000_001,
      false,
      4_000_000,
    ]);
  });

  it('cannot be changed', () => {
    for (const source of [
      'const m = Math; m.max = 1',
      'const t = Task; t.run = 1',
      'Context.workflow = "x"',
      'Object.keys.x = 1',
      'const o = {}; o.__proto__ = {}',
    ]) {
      expect(errorOf(source)).toMatchObject({ name: 'TypeError' });
    }
  });
});
