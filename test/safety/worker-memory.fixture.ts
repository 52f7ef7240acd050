// An engine with default options in a process of its own, which prints how large it is at rest and the most that it has been.
import { Harness } from '../engine/harness.js';

const harness = await Harness.open({
  url: process.env.WORKER_URL as string,
  schema: process.env.WORKER_SCHEMA as string,
  keep: true,
  flows: JSON.parse(process.env.WORKER_FLOWS as string),
  tasks: { echo: () => 1 },
});
await harness.engine({ heartbeatMs: 5_000, deadAfterMs: 30_000 });
const idle = process.memoryUsage.rss();
let most = idle;
setInterval(() => {
  most = Math.max(most, process.memoryUsage.rss());
  harness.events.length = 0;
}, 5);
process.on('SIGUSR2', () => console.log(`more than at rest: ${Math.round((most - idle) / 1e6)} MB`));
console.log('ready');
