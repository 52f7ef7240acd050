// Fuel, with generated programs: no turn does more than its fuel allows, and fuel changes nothing but where a run ends.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compile, type Effect, type FlowEvent, type Program, startRun, type TurnResult } from '../../libs/flow/index.js';
import { programFrom } from '../conformance/generate.js';
import { callsFrom } from '../conformance/generate-calls.js';
import { withShow } from '../conformance/show.js';
import { CONTEXT, HOST } from '../support/flow-driver.js';

const PLENTY = 5_000_000;
const MOST_TURNS = 40;
const TAPE = fc.array(fc.nat(999), { minLength: 20, maxLength: 160, size: 'max' });
const FUEL = fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 200_000 }));
const SLICE = fc.integer({ min: 1, max: 2_000 });

interface Driven {
  /** How the run ended, or `open` when it still went on. */
  ended: string;
  /** The most that one turn did: times it yielded, and calls of the host. */
  yields: number;
  hostCalls: number;
}

/** Completes every call at once, and runs the turns that follow. */
function drive(program: Program, fuelPerTurn: number, fuelPerSlice: number): Driven {
  let hostCalls = 0;
  const host = { ...HOST, random: () => 1 / (2 + hostCalls++) };
  const run = startRun(program, { context: CONTEXT, limits: { fuelPerTurn, fuelPerSlice } });
  const most: Driven = { ended: 'open', yields: 0, hostCalls: 0 };
  let events: FlowEvent[] = [];
  for (let turn = 0; turn < MOST_TURNS; turn++) {
    hostCalls = 0;
    let yields = 0;
    let result: TurnResult = run.turn(events, host);
    for (; result.status === 'yielded'; yields++) result = run.turn([], host);
    most.yields = Math.max(most.yields, yields);
    most.hostCalls = Math.max(most.hostCalls, hostCalls);
    if (result.status !== 'suspended')
      return { ...most, ended: result.status === 'completed' ? `completed ${result.output}` : (result.error.code ?? result.error.name) };
    events = result.effects.flatMap(resultOf);
  }
  return most;
}

function resultOf(effect: Effect): FlowEvent[] {
  if (effect.kind === 'task' || effect.kind === 'workflow') return [{ kind: 'completed', id: effect.id, value: '2' }];
  if (effect.kind === 'timer') return [{ kind: 'timer', id: effect.id }];
  return effect.kind === 'wait' ? [{ kind: 'signal', key: `${effect.id}`, name: effect.signal, payload: '3' }] : [];
}

function sourceFrom(tape: readonly number[]): string {
  return tape[0] % 4 === 1 ? callsFrom(tape.slice(1)) : programFrom(tape.slice(1));
}

describe('the fuel of a turn', () => {
  it('is never exceeded by a program that does forever what another does once', () => {
    let starved = 0;
    fc.assert(
      fc.property(TAPE, FUEL, SLICE, (tape, fuel, slice) => {
        const once = `const once = async () => {\n${sourceFrom(tape)}\n}`;
        const endless = compile(withShow(`${once}\nfor (;;) { Math.random(); try { await once() } catch {} }`));
        const { ended, yields, hostCalls } = drive(endless, fuel, slice);
        expect(hostCalls).toBeLessThanOrEqual(fuel);
        expect(yields).toBeLessThanOrEqual(fuel / slice);
        expect(ended).toMatch(/^(open|FLOW_LIMIT_\w+|FLOW_STUCK|\w*Error)$/);
        if (ended === 'FLOW_LIMIT_FUEL') starved++;
      }),
      { numRuns: 150 },
    );
    // Programs that end for other reasons would prove nothing.
    expect(starved).toBeGreaterThan(50);
  }, 60_000);

  it('changes nothing except whether a run reaches its end', () => {
    fc.assert(
      fc.property(TAPE, FUEL, SLICE, (tape, fuel, slice) => {
        const program = compile(withShow(sourceFrom(tape)));
        const { ended } = drive(program, PLENTY, 200_000);
        expect(['FLOW_LIMIT_FUEL', ended]).toContain(drive(program, fuel, slice).ended);
      }),
      { numRuns: 100 },
    );
  }, 60_000);
});
