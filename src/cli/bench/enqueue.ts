// Starts the executions of a benchmark in its own queues, tasks and workflows evenly mixed.

import { type BenchmarkRows, insertExecutions, type NewExecution, newId, type Store } from '../../../libs/store/index.js';
import type { BenchWork } from './options.js';

const BATCH = 500;

/** What the executions are called in this mode. */
export interface BenchTargets {
  task: string;
  workflow: string;
  /** Of the workflow, where it has code. */
  version?: string;
}

/** Inserts everything, or as much as there is time for; `rows` learns the ids before they are written. */
export async function enqueue(
  store: Store,
  rows: BenchmarkRows,
  work: BenchWork,
  targets: BenchTargets,
  stop: AbortSignal,
): Promise<number> {
  const total = work.tasks + work.workflows;
  // A JSON text of exactly so many bytes, its quotes included.
  const input = JSON.stringify('x'.repeat(work.payloadSize - 2));
  let n = 0;
  while (n < total && !stop.aborted) {
    const batch: NewExecution[] = [];
    for (; batch.length < BATCH && n < total; n++) {
      const isWorkflow = Math.floor(((n + 1) * work.workflows) / total) > Math.floor((n * work.workflows) / total);
      const queue = rows.queues[n % rows.queues.length]!;
      batch.push(
        isWorkflow
          ? { id: newId(), type: 'workflow', targetName: targets.workflow, version: targets.version, queue, input }
          : { id: newId(), type: 'task', targetName: targets.task, queue, input },
      );
    }
    rows.firstId ||= batch[0]!.id;
    rows.lastId = batch.at(-1)!.id;
    await insertExecutions(store.db, batch);
    for (const queue of rows.queues) store.hints.hint('work', queue);
  }
  return n;
}
