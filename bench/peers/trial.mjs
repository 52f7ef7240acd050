// One trial: a workload run by one contestant, with a fresh database and new processes.

import { ContestantProcess } from './contestant-process.mjs';

/** Calls `run` with a new trial and removes its processes and its database, even if it fails. */
export async function runTrial(servers, contestant, run) {
  const database = await servers.createDatabase(contestant);
  const processes = [];
  const trial = {
    contestant,
    url: database.url,
    database: database.name,
    gauges: servers.gauges,
    async startProcess() {
      const started = await ContestantProcess.start(contestant.file);
      processes.push(started);
      return started;
    },
    async startClient() {
      const client = await this.startProcess();
      await client.call('prepare', database.url);
      await client.call('openClient', database.url);
      return client;
    },
    async startWorkers(count, options) {
      return Promise.all(
        Array.from({ length: count }, async () => {
          const worker = await this.startProcess();
          await worker.call('openWorkers', database.url, options);
          return worker;
        }),
      );
    },
  };
  try {
    return await run(trial);
  } finally {
    await Promise.all(processes.map((started) => started.end()));
    await database.drop();
  }
}
