// The size that the documentation states: the snapshot of the reference order while it waits for approval.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { compile, type FlowEvent, startRun } from '../../libs/flow/index.js';

const FOLDER = join(import.meta.dirname, '../../bench/flow/reference');
const read = (name: string) => readFileSync(join(FOLDER, name), 'utf8');
const context = { executionId: 'e', rootId: 'e', parentId: null, workflow: 'order', version: 'v', startedAt: 0, tags: [] };
const host = { now: () => 0, random: () => 0.5, uuid: () => '00000000-0000-4000-8000-000000000000' };

it('takes at most 400 bytes', () => {
  const answers: Record<string, unknown> = JSON.parse(read('order.tasks.json'));
  const run = startRun(compile(read('order.flow'), { file: 'order.flow' }), { inputs: read('order.inputs.json'), context });
  let events: FlowEvent[] = [];
  for (;;) {
    const result = run.turn(events, host);
    if (result.status !== 'suspended') throw new Error(`the order does not wait: ${JSON.stringify(result)}`);
    if (result.effects.some((effect) => effect.kind === 'wait')) break;
    events = result.effects.flatMap((effect) =>
      effect.kind === 'task' ? [{ kind: 'completed' as const, id: effect.id, value: JSON.stringify(answers[effect.name]) }] : [],
    );
  }
  expect(Buffer.byteLength(run.snapshot())).toBeLessThanOrEqual(400);
});
