// The reference order flow, driven to its wait for approval: the run whose snapshot the documentation quotes.

import { readFileSync } from 'node:fs';
import { compile, restoreRun, startRun } from '../../dist/esm/libs/flow/index.js';
import { context, host } from './engines.mjs';

const read = (name) => readFileSync(new URL(`./reference/${name}`, import.meta.url), 'utf8');

/** Runs the flow until it waits for the signal and returns the program and the snapshot there. */
export function waitingForApproval() {
  const program = compile(read('order.flow'), { file: 'order.flow' });
  const results = JSON.parse(read('order.tasks.json'));
  const run = startRun(program, { inputs: read('order.inputs.json'), context });
  let events = [];
  for (;;) {
    const outcome = run.turn(events, host);
    if (outcome.status !== 'suspended') throw new Error(`expected the flow to wait, got ${JSON.stringify(outcome)}`);
    const tasks = outcome.effects.filter((effect) => effect.kind === 'task');
    if (outcome.effects.some((effect) => effect.kind === 'wait')) return { program, snapshot: run.snapshot() };
    events = tasks.map((task) => ({ kind: 'completed', id: task.id, value: JSON.stringify(results[task.name]) }));
  }
}

/** A run that waits while it holds `count` small objects. */
export function holding(count) {
  const program = compile(
    `const list = []; for (let i = 0; i < ${count}; i++) list.push({ i, name: 'n' + i }); await Timer.sleep('1d'); return list`,
  );
  const run = startRun(program, { context });
  for (let outcome = run.turn([], host); outcome.status !== 'suspended'; outcome = run.turn([], host)) {
    if (outcome.status !== 'yielded') throw new Error(`expected the flow to wait, got ${JSON.stringify(outcome)}`);
  }
  return { program, snapshot: run.snapshot() };
}

/** Microseconds for one snapshot and one restore, and the bytes of the snapshot. */
export function measureSnapshot({ program, snapshot }, rounds = 2_000) {
  let current = snapshot;
  const round = () => {
    current = restoreRun(program, current, { context }).snapshot();
  };
  for (let i = 0; i < rounds; i++) round();
  const startedAt = process.hrtime.bigint();
  for (let i = 0; i < rounds; i++) round();
  return { us: Number(process.hrtime.bigint() - startedAt) / 1e3 / rounds, bytes: Buffer.byteLength(snapshot) };
}
