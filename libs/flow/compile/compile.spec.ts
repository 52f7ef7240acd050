// What the compiler guarantees: one table of instructions, code that verifies, liveness, programs that are stored and loaded.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { begin, outputOf, turnOf } from '../../../test/support/flow-driver.js';
import { LineMap } from '../diagnostics/line-map.js';
import { compile, FlowSnapshotError, loadProgram, type Program, saveProgram } from '../index.js';
import { Assembler, ConstantPool, Label } from './assembler.js';
import { OP, OPCODES, type OpOf } from './opcodes.js';
import { measureStack } from './verify.js';

const ORDER = readFileSync(join(process.cwd(), 'libs/flow/snapshot/corpus/format-1-order.json'), 'utf8');

describe('the table of instructions', () => {
  it('matches the dispatch loop', () => {
    const loop = readFileSync(join(process.cwd(), 'libs/flow/vm/dispatch.ts'), 'utf8');
    const cases = [...loop.matchAll(/case (\d+) \/\* (\w+) \*\/:/g)].map(([, number, name]) => `${number} ${name}`);
    expect(cases.sort()).toEqual(OPCODES.map(({ name }, number) => `${number} ${name}`).sort());
  });

  it('types what the compiler emits: a typo, a missing operand or a wrong stack effect does not compile', () => {
    const asm = new Assembler(new ConstantPool(), new LineMap(''));
    const mistakes = [
      // @ts-expect-error There is no such instruction.
      () => asm.emit('GET_PORP', 0),
      // @ts-expect-error It has two operands.
      () => asm.emit('GET_CHECKED', 0),
      // @ts-expect-error It has none.
      () => asm.emit('POP', 0),
      // @ts-expect-error It does not jump.
      () => asm.jump('POP', new Label()),
      // @ts-expect-error It takes one value, not two.
      (): OpOf<2, 1> => 'NEG',
    ];
    expect(mistakes).toHaveLength(5);
    // @ts-expect-error There is no such instruction.
    expect(OP.GET_PORP).toBeUndefined();
  });

  it('describes each instruction', () => {
    for (const { name, meaning } of OPCODES) expect(`${name}: ${meaning}`).toMatch(/: .{2,}/);
  });
});

describe('a compiled program', () => {
  const source = `
    const seen = []
    outer: for (const [i, { x = 1, ...rest } = {}] of Object.entries(Inputs)) {
      switch (i) { case 'a': continue outer; default: try { if (x > 2) break outer; seen.push(await x) } finally { seen.push(rest?.y?.[0] ?? \`\${i}\`) } }
    }
    return seen.map((s, ...more) => (s ||= more.length, s++))`;

  it('needs the operand stack that it declares', () => {
    for (const fn of compile(source).functions) expect(measureStack(fn).deepest).toBe(fn.stack);
  });

  it('is the same program every time', () => {
    expect(saveProgram(compile(source))).toBe(saveProgram(compile(source)));
  });

  it('has a fingerprint of its behaviour, not of its file, and keeps it when stored', () => {
    const { fingerprint } = compile(source, { file: 'a.flow' });
    expect(fingerprint).toMatch(/^[0-9a-f]{12}$/);
    expect(compile(source, { file: 'b/a.flow' }).fingerprint).toBe(fingerprint);
    expect(loadProgram(saveProgram(compile(source))).fingerprint).toBe(fingerprint);
    const others = [
      `${source} `,
      `${source}\n`,
      source.replace('x = 1', 'x = 2'),
      source.replace("'a'", "'b'"),
      source.replace('++', '--'),
    ];
    const prints = others.map((other) => compile(other).fingerprint);
    // Trailing whitespace is not part of the program.
    expect(prints.map((print) => print === fingerprint)).toEqual([true, true, false, false, false]);
    expect(new Set(prints).size).toBe(4);
  });

  it('runs the same after it was stored', () => {
    const inputs = { a: { x: 1 }, b: { x: 2, y: ['z'] }, c: {} };
    const { result } = begin(loadProgram(saveProgram(compile(source, { file: 'spec.flow' }))), { inputs });
    expect(result).toEqual(begin(source, { inputs }).result);
  });

  it('keeps only the variables that are needed after an await', () => {
    const [main] = compile(`const a = 1; const b = 2; const c = a + b; await Task.run('t', c); return b`).functions;
    expect(main.live).toHaveLength(1);
    const names = main.live[0].slots.map((slot) => main.locals.find(({ at }) => at === slot)?.name);
    expect(names).toEqual(['b']);
  });

  it.each([
    ['a constant', `() => 'due'`, true],
    ['an object of what it reads', `({ id }) => ({ id, list: [Inputs.a] })`, true],
    ['a choice', `(x) => x === 1 ? null : typeof x`, true],
    ['a throw', `() => { throw new TypeError('late', undefined) }`, true],
    ['a value that may be thenable', `(x) => x`, false],
    ['a thenable', `() => ({ then: null })`, false],
    ['a call', `() => Math.random()`, false],
    ['a coercion', `(x) => \`due \${x}\``, false],
    ['a write', `(x) => { x.due = true }`, false],
    ['a write to an outer variable', `() => { outer = 1 }`, false],
    ['a variable that a closure may hold', `() => { const n = 1; return () => n }`, false],
    ['a loop', `() => { for (;;) {} }`, false],
    ['an iterator', `([x]) => 1`, false],
    ['an error with a computed message', `(x) => { throw new Error(x) }`, false],
  ])('marks a function that only reads and builds values: %s', (_what, handler, inert) => {
    const { functions } = compile(`let outer = 0; const f = ${handler}; return [f, outer]`);
    expect(functions[1].inert).toBe(inert);
  });

  it('marks an await after which nothing can be observed', () => {
    const { functions } = compile(`
      const quiet = async (p) => { await p; return 'due' }
      const caught = async (p) => { try { await p } catch { return 'late' } return 'due' }
      const loud = async (p) => { try { await p } catch { console.log('late') } return 'due' }
      const twice = async (p) => { await p; await p }
      const guarded = async (p) => { try { await p } finally { quiet } }
      return [quiet, caught, loud, twice, guarded]`);
    const marks = functions.map(({ name, live }) => `${name} ${live.map(({ inert }) => inert)}`);
    expect(marks).toEqual(['main ', 'quiet true', 'caught true', 'loud false', 'twice false,true', 'guarded false']);
  });

  it('points a stack trace at the place in the source', () => {
    const source = `function inner(o) {\n  return o.x.y\n}\nfunction outer() {\n  return inner({})\n}\ntry { outer() } catch (e) { return e.stack.split('\\n').slice(1).map((l) => l.trim()) }`;
    expect(outputOf(source)).toEqual(['at inner (spec.flow:2:14)', 'at outer (spec.flow:5:10)', 'at main (spec.flow:7:7)']);
  });
});

describe('a stored program', () => {
  const text = JSON.parse(ORDER).program as string;

  it('without inert marks loads, and nothing in it is inert', () => {
    const source = `await Promise.race([Timer.sleep('1h').then(() => 'late'), Signal.when('go')]); await Task.run('t')`;
    const old = saveProgram(compile(source)).replace(/,"inert":(true|false)/g, '');
    expect(old).not.toBe(saveProgram(compile(source)));
    const { run } = begin(loadProgram(old));
    expect(turnOf(run, [{ kind: 'signal', key: 'k', name: 'go' }]).effects.map(({ kind }) => kind)).toEqual(['withdraw', 'task']);
  });

  it.each<[string, (program: Program & Record<string, unknown>) => void]>([
    ['another version', (p) => Object.assign(p, { version: 99 })],
    ['an unknown instruction', (p) => Object.assign(p.functions[0].code, { 0: 9_999 })],
    ['a jump out of the function', (p) => replaceJump(p)],
    ['an operand out of range', (p) => Object.assign(p, { constants: [] })],
    ['a stack that is too small', (p) => Object.assign(p.functions[0], { stack: 0 })],
    ['a region out of range', (p) => Object.assign(p.functions[0].handlers, { 1: 1e9 })],
    ['an await that does not exist', (p) => Object.assign(p.functions[0].live[0], { at: 3 })],
    ['no functions', (p) => Object.assign(p, { functions: [] })],
    ['missing fields', (p) => Object.assign(p.functions[0], { locals: undefined })],
  ])('is refused with %s', (_what, damage) => {
    const program = JSON.parse(text);
    damage(program);
    expect(() => loadProgram(JSON.stringify(program))).toThrow(FlowSnapshotError);
  });

  it.each<[string, string, (program: Program & Record<string, unknown>) => void]>([
    ['a newer version', 'FLOW_NEWER_FORMAT', (p) => Object.assign(p, { version: 2 })],
    ['an instruction added later', 'FLOW_NEWER_FORMAT', (p) => Object.assign(p.functions[0].code, { 0: OPCODES.length })],
    ['an older version that never existed', 'FLOW_SNAPSHOT', (p) => Object.assign(p, { version: 0 })],
    ['an invalid instruction', 'FLOW_SNAPSHOT', (p) => Object.assign(p.functions[0].code, { 0: -1 })],
    ['a damaged fingerprint', 'FLOW_SNAPSHOT', (p) => Object.assign(p, { fingerprint: 7 })],
  ])('with %s is refused with %s', (_what, code, change) => {
    const program = JSON.parse(text);
    change(program);
    expect(() => loadProgram(JSON.stringify(program))).toThrow(expect.objectContaining({ code }));
  });
});

function replaceJump(program: Program): void {
  const { code } = program.functions[0];
  const jump = OPCODES.findIndex(({ name }) => name === 'LOOP');
  (code as number[])[code.indexOf(jump) + 1] = 1e6;
}
