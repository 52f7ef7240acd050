// Runs in a fresh process: milliseconds to compile a program of 500 lines right after the start.

import { readFileSync } from 'node:fs';
import { compile } from '../../dist/esm/libs/flow/index.js';

const order = readFileSync(new URL('./reference/order.flow', import.meta.url), 'utf8').trimEnd();
const blocks = [];
let lines = 0;
for (let i = 0; lines < 500; i++) {
  const block = `async function order${i}(Given) {\n${order.replaceAll('Inputs', 'Given')}\n}`;
  blocks.push(block);
  lines += block.split('\n').length;
}
const source = `${blocks.join('\n').split('\n').slice(0, lines).join('\n')}\nreturn await order0(Inputs)`;
const startedAt = process.hrtime.bigint();
compile(source, { file: 'cold.flow' });
console.log(JSON.stringify({ ms: Number(process.hrtime.bigint() - startedAt) / 1e6, lines: source.split('\n').length }));
