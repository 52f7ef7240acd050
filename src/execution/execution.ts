// An execution as the services return it: the stored record with its payloads parsed.

import type { ExecutionRecord, ExecutionStatus } from '../../libs/store/index.js';
import type { StoredError } from '../errors.js';

export type { ExecutionStatus };

/** A run of a task or a workflow. */
export interface Execution {
  id: string;
  type: 'task' | 'workflow';
  name: string;
  queue: string;
  priority: number;
  /** `running` means that a worker holds it at this moment; `suspended` that it waits (see `inspect`). */
  status: ExecutionStatus;
  parentId: string | null;
  /** SHA-256 of the flow's source, pinned at start; null for tasks. */
  version: string | null;
  input: unknown;
  /** The result; undefined before the end, and if the run returned nothing. */
  output: unknown;
  error: StoredError | null;
  tags: string[];
  /** Failed attempts so far (tasks). */
  attempts: number;
  /** Times in a row that a worker died with it. */
  crashes: number;
  /** What the task last reported with `heartbeat(progress)`. */
  progress: unknown;
  /** Why it does not continue although it waits for nothing, for example a version that is not in the database. */
  note: string | null;
  workerId: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  /** When it received its cancellation. */
  cancelledAt: Date | null;
}

/** An execution with what it called. */
export interface ExecutionTree extends Execution {
  children: ExecutionTree[];
}

/** The public form of a stored record. */
export function toExecution(record: ExecutionRecord): Execution {
  const { input, output, options: _options, ...rest } = record;
  return { ...rest, input: parse(input), output: parse(output) };
}

/** Puts each record under its parent; `id` is the top. */
export function toTree(records: readonly ExecutionRecord[], id: string): ExecutionTree | undefined {
  const nodes = new Map(records.map((record) => [record.id, { ...toExecution(record), children: [] as ExecutionTree[] }]));
  for (const node of nodes.values()) {
    if (node.id !== id && node.parentId !== null) nodes.get(node.parentId)?.children.push(node);
  }
  return nodes.get(id);
}

/** SQL NULL stands for `undefined`; a stored `null` is the string "null". */
export function parse(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}
