// The watchdog of a process that runs isolated flows: a thread that ends it even while the flow holds its main thread.

/** The signal by which the process ends itself when it has used up its memory; any other end has another reason. */
export const OUT_OF_MEMORY_SIGNAL = 'SIGUSR2';

/**
 * The source of the thread; `workerData` is a ChildOrder. It looks whether the parent is still there (the parent may have been killed,
 * and then nothing else ends a process whose main thread never comes back), and at its own resident memory (the worker looks too, but
 * its event loop may be held at that moment, and on systems without /proc it cannot).
 * It is a string because a thread needs a file or a source, and this package is built as ESM and as CommonJS.
 */
export const WATCHDOG_SOURCE = `
'use strict';
const { workerData } = process.getBuiltinModule('node:worker_threads');
const isGone = process.platform === 'win32'
  ? () => { try { process.kill(workerData.parent, 0); return false; } catch (error) { return error.code === 'ESRCH'; } }
  : () => process.ppid !== workerData.parent;
setInterval(() => {
  if (isGone()) process.kill(process.pid, 'SIGKILL');
  if (process.memoryUsage.rss() > workerData.memoryBytes) process.kill(process.pid, '${OUT_OF_MEMORY_SIGNAL}');
}, 50);
`;
