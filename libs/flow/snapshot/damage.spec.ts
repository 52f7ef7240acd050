// An edited snapshot is refused or fails only its own run: no crash, no hang, no host value.

import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { begin, CONTEXT, turnOf } from '../../../test/support/flow-driver.js';
import { describe as describeRun, FlowSnapshotError, restoreRun } from '../index.js';
import type { Json } from './format.js';

const FLOW = `
const shared = { list: [1, , NaN, -0], when: new Date(5), self: null }
shared.self = shared
const map = new Map([[shared, 'x'], ['k', new Set([1, 2])]])
const failure = new TypeError('bad', { cause: shared })
async function branch(n) {
  for (const [key, value] of map) {
    try { await Task.run('work', { n }) } finally { shared.list.push(n) }
  }
  return () => n
}
const both = Promise.all([branch(1), branch(2)])
const won = Promise.race([Signal.when('go'), Timer.sleep('1h')]).then((x) => x, (e) => { throw e })
for (const key in shared) { await Signal.when(key) }
const fs = await both
return [fs.map((f) => f()), failure.message, await won, shared.list.length, Inputs.a]
`;

describe('an edited snapshot', () => {
  const { program, run, result } = begin(FLOW, { inputs: { a: 1 } });
  const text = run.snapshot();
  const ids = result.status === 'suspended' ? result.effects.flatMap((each) => ('id' in each ? [each.id] : [])) : [];
  const restore = (snapshot: string) => restoreRun(program, snapshot, { context: CONTEXT });

  it('restores when it was not edited', () => {
    expect(restore(text).snapshot()).toBe(text);
  });

  it.each([
    ['invalid JSON', '{'],
    ['other JSON', '{"a":1}'],
    ['an empty array', '[]'],
    ['a newer format', '[999,1,[],[]]'],
    ['nothing pending', '[1,2,[],[]]'],
    ['an instruction pointer out of range', text.replace(/\[0,0,\d+,\[20\]/, '[0,0,99999,[20]')],
    ['an instruction pointer inside an instruction', text.replace(/\[0,0,(\d+),\[20\]/, (_, ip) => `[0,0,${Number(ip) - 1},[20]`)],
    ['an unknown function', text.replace(/\[0,0,(\d+),\[20\]/, '[0,77,$1,[20]')],
    ['a reference to nothing', text.replace('[1,0]', '[1,4711]')],
    ['an unknown built-in', text.replace('[1,0]', '[7,"process"]')],
    ['a wrong tag', text.replace('[12,', '[99,')],
    ['a table entry that refers to itself', text.replace(/\]\]$/, ',[1,0]]]')],
    ['endless nesting', `[1,2,[[1,0,"t",${'[0,'.repeat(50_000)}1${']'.repeat(50_000)}]],[]]`],
  ])('is refused: %s', (_what, damaged) => {
    expect(damaged).not.toBe(text);
    expect(() => restore(damaged)).toThrow(FlowSnapshotError);
    expect(() => describeRun(program, damaged)).toThrow(FlowSnapshotError);
  });

  it('is refused, or only its own run fails, whatever was changed', () => {
    const value: fc.Arbitrary<Json> = fc.oneof(
      fc.integer({ min: -2, max: 30 }),
      fc.constantFrom<Json>(null, true, 'x', [], {}, [1, 0], [1, 1], [1, 2], [2, 0], [4], [5, 1], [19], [20], [0, 1], [15, 0], [3, 5]),
    );
    let refused = 0;
    let accepted = 0;
    fc.assert(
      fc.property(fc.nat(), fc.nat(), value, (where, how, replacement) => {
        const edited = edit(JSON.parse(text), where, how % 3, replacement);
        try {
          const copy = restore(JSON.stringify(edited));
          turnOf(
            copy,
            ids.flatMap((id) => [{ kind: 'completed', id, value: '1' } as const, { kind: 'timer', id } as const]),
          );
          accepted++;
        } catch (error) {
          expect(error).toBeInstanceOf(FlowSnapshotError);
          refused++;
        }
      }),
      { numRuns: 3_000 },
    );
    expect(refused).toBeGreaterThan(0);
    expect(accepted).toBeGreaterThan(0);
  });
});

/** Replaces, removes or duplicates the n-th part of the tree. */
function edit(root: Json, where: number, how: number, replacement: Json): Json {
  const places: { list: Json[]; at: number }[] = [];
  const visit = (json: Json) => {
    if (!Array.isArray(json)) return;
    json.forEach((each, at) => {
      places.push({ list: json, at });
      visit(each);
    });
  };
  visit(root);
  const { list, at } = places[where % places.length];
  if (how === 0) list[at] = replacement;
  else if (how === 1) list.splice(at, 1);
  else list.splice(at, 0, list[at]);
  return root;
}
