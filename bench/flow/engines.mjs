// One function per engine: runs a program and returns its value and the milliseconds it took.

import JSInterpreter from 'js-interpreter';
import { getQuickJS } from 'quickjs-emscripten';
import { compile, DEFAULT_LIMITS, startRun } from '../../dist/esm/libs/flow/index.js';

const quickjs = await getQuickJS();

export const host = { now: () => 1_700_000_000_000, random: () => 0.5, uuid: () => '00000000-0000-4000-8000-000000000000' };
export const context = { executionId: 'bench', rootId: 'bench', parentId: null, workflow: 'bench', version: '1', startedAt: 0, tags: [] };
const limits = { ...DEFAULT_LIMITS, fuelPerTurn: 1e12, fuelPerSlice: 1e12 };

function timed(work) {
  const startedAt = process.hrtime.bigint();
  const value = work();
  return { value, ms: Number(process.hrtime.bigint() - startedAt) / 1e6 };
}

export const engines = {
  flow(source) {
    const program = compile(source, { file: 'bench.flow', limits });
    return timed(() => {
      const outcome = startRun(program, { context, limits }).turn([], host);
      if (outcome.status !== 'completed') throw new Error(`flow: ${JSON.stringify(outcome)}`);
      return JSON.parse(outcome.output);
    });
  },
  quickjs(source) {
    const vm = quickjs.newContext();
    try {
      return timed(() => {
        const handle = vm.unwrapResult(vm.evalCode(source));
        const value = vm.dump(handle);
        handle.dispose();
        return value;
      });
    } finally {
      vm.dispose();
    }
  },
  es5(source) {
    const interpreter = new JSInterpreter(source);
    return timed(() => {
      interpreter.run();
      return interpreter.value;
    });
  },
};
