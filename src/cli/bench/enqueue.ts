// Inserts the executions of a benchmark in its own queues, tasks and workflows evenly mixed.

import { type BenchmarkRows, insertExecutions, type NewExecution, newId, type Store } from '../../../libs/store/index.js';
import type { BenchWork } from './options.js';

const BATCH = 500;

/** The names of the executions in this mode. */
export interface BenchTargets {
  task: string;
  workflow: string;
  /** Of the workflow, if it has code. */
  version?: string;
}

/** Inserts everything, or as much as there is time for, and returns the number. `rows` has the range of ids before they are written. */
export async function enqueue(
  store: Store,
  rows: BenchmarkRows,
  work: BenchWork,
  targets: BenchTargets,
  stop: AbortSignal,
): Promise<number> {
  const total = work.tasks + work.workflows;
  // JSON of exactly this many bytes, including the quotes.
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
