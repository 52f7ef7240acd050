// The worker process of `npm run bench:attacks`: default options, and a report of its memory and of how long its event loop was held.

import { once } from 'node:events';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Engine, StoredPrograms } from '../../libs/engine/index.js';
import { compile } from '../../libs/flow/index.js';
import { Store } from '../../libs/store/index.js';

const SAMPLE_MS = 5;
const [{ url, flows: definitions }] = await once(process, 'message');

const flows = new Map(definitions.map(({ name, version, source }) => [name, { version, program: compile(source), allow: undefined }]));
const policy = { queue: 'default', priority: 0, maxAttempts: 1, backoff: 'fixed', delayMs: 0, maxDelayMs: 0, jitter: false };
const echo = { name: 'echo', place: 'bench', policy: { ...policy, transactional: false }, run: (input) => input };
const store = await Store.open({ url, poolSize: 10 });
const engine = new Engine({
  store,
  tasks: { get: (name) => (name === 'echo' ? echo : undefined), names: () => ['echo'] },
  programs: new StoredPrograms(store, { get: (name) => flows.get(name) }, {}),
});
await engine.start();

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
let most = 0;
const sample = () => {
  most = Math.max(most, process.memoryUsage.rss());
};
setInterval(sample, SAMPLE_MS);
process.on('disconnect', () => process.exit());
process.on('message', () => {
  sample();
  process.send({ held: delay.max / 1e6, rss: most });
  delay.reset();
  most = 0;
});
process.send('ready');
