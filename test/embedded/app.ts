// An app in a process of its own that has an embedded PostgreSQL: prints its address and runs until it is ended.
import { startEmbedded } from '../../libs/embedded/index.js';

const dataDir = process.env.DATA_DIR;
const server = await startEmbedded({ durable: false, ...(dataDir ? { dataDir } : {}) });
console.log(`URL ${server.url}`);
process.on('SIGTERM', async () => {
  await server.stop();
  console.log('STOPPED');
  process.exit(0);
});
setInterval(() => {}, 1000);
