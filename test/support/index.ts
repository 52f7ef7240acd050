// The entry of the test kit: a database per spec file, waiting for conditions, worker processes.
export { createTestDatabase, serverUrl, type TestDatabase, useTestDatabase } from './test-database.js';
export { eventually, type WaitOptions, waitFor } from './wait-for.js';
export { endWorkers, spawnWorker, useWorkers, type WorkerOptions, type WorkerProcess } from './worker-process.js';
