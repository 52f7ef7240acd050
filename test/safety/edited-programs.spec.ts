// An edited stored program is refused, or only its own run fails: no crash, no hang, no host exception.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compile, FlowSnapshotError, loadProgram, saveProgram, startRun } from '../../libs/flow/index.js';
import { CONTEXT, HOST } from '../support/flow-driver.js';

const SOURCE = `
const list = [1, , 3]; let total = 0
async function work(n, ...rest) {
  for (const each of list) { try { total += each ?? 0; await null } catch (e) { throw e } finally { total++ } }
  const { a = 1, ...others } = { a: n, b: rest }
  return () => [a, others, total]
}
outer: for (let i = 0; i < 3; i++) { switch (i) { case 1: continue outer; default: total += i } }
const fs = await Promise.all([work(1), work(2, 'x')])
return [...fs.map((f) => f()), \`\${total}\`, total > 3 ? list?.[0] : new Map([[1, 2]]).get(1)]`;

// Small, so that what loops ends soon.
const LIMITS = { fuelPerTurn: 200_000, heapBytes: 4 * 1024 * 1024 };

/** Loads and runs it; what may come out is a refusal or a typed outcome. */
function outcomeOf(text: string): string {
  let program: ReturnType<typeof loadProgram>;
  try {
    program = loadProgram(text);
  } catch (error) {
    if (error instanceof FlowSnapshotError) return 'refused';
    throw error;
  }
  const run = startRun(program, { context: CONTEXT, limits: LIMITS, inputs: '{"a":1}' });
  let result = run.turn([], HOST);
  for (let slices = 0; result.status === 'yielded'; slices++) {
    if (slices > 1_000) throw new Error('it hangs');
    result = run.turn([], HOST);
  }
  return result.status;
}

interface Editable {
  version: number;
  constants: unknown[];
  functions: {
    code: number[];
    handlers: number[];
    captures: number[];
    isAsync: boolean;
    slots: number;
    stack: number;
    live: { at: number }[];
  }[];
}

const text = saveProgram(compile(SOURCE));
const edited = (edit: (program: Editable) => void): string => {
  const program = JSON.parse(text) as Editable;
  edit(program);
  return JSON.stringify(program);
};

/** A main body of this code alone, so that nothing else in it can be refused. */
const withCode = (code: number[]): string =>
  edited(({ functions: [main] }) => Object.assign(main, { code, handlers: [], live: [], locals: [] }));

// Numbers of compile/opcodes.ts, which never change.
const [JUMP, LOOP] = [60, 61];

describe('a stored program', () => {
  it('runs when it was not edited', () => {
    expect(outcomeOf(text)).toBe('completed');
  });

  it.each([
    ['invalid JSON', '{'],
    ['cut off', text.slice(0, text.length / 2)],
    ['null', 'null'],
    ['an array', '[]'],
    ['another version', edited((p) => (p.version = 99))],
    ['without functions', edited((p) => (p.functions = []))],
    ['with an object among its constants', edited((p) => p.constants.push({ toString: 1 }))],
    ['with an unknown instruction', edited((p) => (p.functions[0].code[0] = 4711))],
    ['with a fraction for an instruction', edited((p) => (p.functions[0].code[0] = 1.5))],
    ['with a jump out of the code', withCode([JUMP, 99])],
    ['with a jump into an instruction', withCode([JUMP, 3, JUMP, 4, 2, 101])],
    ['with a jump to itself', withCode([JUMP, 0])],
    ['with a loop that costs nothing', withCode([LOOP, 0, 0])],
    ['with a loop that adds fuel', withCode([LOOP, 0, -1_000_000])],
    ['with code that does not end', withCode([2])],
    ['with an operand cut off', withCode([JUMP])],
    ['with an empty stack', withCode([101])],
    ['that declares too small a stack', edited((p) => (p.functions[0].stack = 0))],
    ['whose main body cannot wait', edited((p) => (p.functions[0].isAsync = false))],
    ['with a million variables', edited((p) => (p.functions[0].slots = 1_000_000))],
    ['with a handler before its region', edited((p) => (p.functions[1].handlers[2] = 0))],
    ['with an await that does not exist', edited((p) => (p.functions[1].live[0].at = 1))],
    ['with a variable that its creator does not have', edited((p) => (p.functions[1].captures[0] = 9_999))],
    ['with a captured variable that does not exist', edited((p) => (p.functions[1].captures[0] = -9_999))],
  ])('is refused %s', (_what, damaged) => {
    expect(damaged).not.toBe(text);
    expect(outcomeOf(damaged)).toBe('refused');
  });

  it('of two instructions runs', () => {
    expect(outcomeOf(withCode([2, 101]))).toBe('completed');
  });

  it('with an endless loop runs out of fuel like any other', () => {
    expect(outcomeOf(withCode([LOOP, 0, 1]))).toBe('failed');
  });

  it('ends in a refusal or a typed outcome whatever number is changed', () => {
    const places: { list: number[]; at: number }[] = [];
    const program = JSON.parse(text) as Editable;
    for (const fn of program.functions) {
      for (const list of [fn.code, fn.handlers, fn.captures]) for (let at = 0; at < list.length; at++) places.push({ list, at });
    }
    const number = fc.oneof(fc.integer({ min: -3, max: 130 }), fc.constantFrom(-1, 0, 1, 2 ** 31, 2 ** 53, 1.5));
    fc.assert(
      fc.property(fc.integer({ min: 0, max: places.length - 1 }), number, (place, value) => {
        const { list, at } = places[place];
        const before = list[at];
        list[at] = value;
        const damaged = JSON.stringify(program);
        list[at] = before;
        expect(['refused', 'completed', 'failed', 'suspended']).toContain(outcomeOf(damaged));
      }),
      { numRuns: 1_500 },
    );
  });

  it('ends in a refusal or a typed outcome whatever is changed in its text', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: text.length - 1 }),
        fc.constantFrom('', '0', '9', '"', '[', ']', '{', ',', '-', 'null'),
        (at, by) => {
          expect(['refused', 'completed', 'failed', 'suspended']).toContain(outcomeOf(text.slice(0, at) + by + text.slice(at + 1)));
        },
      ),
      { numRuns: 600 },
    );
  });
});
