// A process that starts as every process of a deploy does: it migrates if that is necessary, and then serves.

import { createDataSource, migrate } from '../../libs/store/index.js';
import { Harness } from '../engine/harness.js';

const url = process.env.WORKER_URL as string;
const schema = process.env.WORKER_SCHEMA as string;
const source = await createDataSource({ url, schema, applicationName: `deploy ${process.pid}` }).initialize();
console.log(`report ${JSON.stringify(await migrate(source))}`);
await source.destroy();
const harness = await Harness.open({ url, schema, keep: true, tasks: { one: () => 1 } });
console.log(`ready ${(await harness.engine()).workerId}`);
