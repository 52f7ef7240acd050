// Every golden of the language does the same, turn by turn, in a process of isolated flows as in the worker.

import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS, type FlowEvent, restoreRun, saveProgram, startRun } from '../../libs/flow/index.js';
import { isolatedProgram } from '../../libs/isolation/index.js';
import { readGoldens } from '../conformance/golden.js';
import { compileCase } from '../conformance/run-flow.js';
import { START, Timeline } from '../conformance/timeline.js';
import { CONTEXT, type Ended, turnOf } from '../support/flow-driver.js';
import { openPool, turnFor } from './turns.js';

// What depends on the host's clock and randomness differs between any two turns.
const OF_THE_HOST = /random|Date|until|stack/;
const LIMITS = { ...DEFAULT_LIMITS, fuelPerTurn: 2_000_000, heapBytes: 8 * 1024 * 1024 };
const goldens = readGoldens().filter(({ errors, source }) => errors.length === 0 && !OF_THE_HOST.test(source));

describe('an isolated turn', () => {
  it('of every golden has the outcome and the state of one in the worker', async () => {
    const pool = openPool();
    let turns = 0;
    for (const golden of goldens) {
      const program = compileCase(golden);
      const isolated = isolatedProgram(saveProgram(program), program.fingerprint);
      const timeline = new Timeline(golden.script);
      const { inputs } = golden.script;
      let snapshot: string | undefined;
      let events: FlowEvent[] = [];
      let kept: FlowEvent[] = [];
      let last = 0;
      for (;;) {
        const given = [...kept, ...events];
        const run =
          snapshot === undefined
            ? startRun(program, { inputs, context: CONTEXT, limits: LIMITS })
            : restoreRun(program, snapshot, { context: CONTEXT, limits: LIMITS, numberAfter: last });
        const here = turnOf(run, given);
        const state = here.status === 'suspended' ? run.snapshot() : undefined;
        const more = { program: isolated, limits: LIMITS, numberAfter: last, now: START, snapshot, inputs };
        const there = await pool.run(turnFor('', more, given)).outcome;
        turns++;
        expect({ golden: golden.path, ...comparable(there.result) }).toEqual({ golden: golden.path, ...comparable(here) });
        expect(there.snapshot).toBe(state);
        if (here.status !== 'suspended') break;
        for (const effect of here.effects) {
          timeline.record(effect);
          if ('id' in effect) last = Math.max(last, effect.id);
        }
        kept = given.filter((event) => event.kind === 'signal' && !here.consumedSignals.some(({ key }) => key === event.key));
        const next = timeline.next();
        if (!next) break;
        snapshot = state;
        events = [next];
      }
    }
    expect(goldens.length).toBeGreaterThan(400);
    expect(turns).toBeGreaterThan(goldens.length);
  }, 120_000);
});

function comparable(result: Ended): Ended {
  return { ...result, effects: result.effects.map((effect) => (effect.kind === 'log' ? { ...effect, at: 0 } : effect)) };
}
