// `list`: its filters, checked, and its pages.

import {
  type ExecutionFilter,
  type ExecutionStatus,
  listExecutions,
  type Runner,
  WAITING_KINDS,
  type WaitingKind,
} from '../../libs/store/index.js';
import { checkAnyId, checkChoice, checkInteger, checkKeys, checkName, checkString, describeValue } from '../check-argument.js';
import { parseInstant } from '../duration.js';
import { InvalidArgumentError } from '../errors.js';
import { type Execution, toExecution } from './execution.js';

/** What a suspended execution waits for: anything of a kind, or what has this name. */
export interface WaitsFor {
  /** `worker`: it was resumed or retried and nothing has run it since. `completion`: a task that was handed over with `completeLater()`. */
  kind: WaitingKind;
  /** Of the signal, the task or the child workflow; of a task that was handed over its own. Timers and `worker` have none. */
  name?: string;
}

/** What to list; what is left out matches everything. */
export interface ListOptions {
  status?: ExecutionStatus | readonly ExecutionStatus[];
  type?: 'task' | 'workflow';
  /** Without `type`: if there are workflows of this name, those, otherwise tasks. */
  name?: string;
  queue?: string;
  /** Children of this execution; null for executions without a parent. */
  parentId?: string | null;
  tag?: string;
  createdAfter?: Date | number | string;
  createdBefore?: Date | number | string;
  /** Only what is suspended and waits for this. */
  waitsFor?: WaitsFor;
  /** Executions per page, 1 … 1,000; default 50. */
  limit?: number;
  /** The `next` of the previous page. */
  cursor?: string;
}

/**
 * A page of executions, newest first. A request looks at 10,000 executions at most, so a page may have fewer items than its limit, or
 * none, although more match: go on while there is a `next`.
 */
export interface ListPage {
  items: Execution[];
  /** Pass it as `cursor` for the next page; absent on the last one. */
  next?: string;
}

const KEYS = ['status', 'type', 'name', 'queue', 'parentId', 'tag', 'createdAfter', 'createdBefore', 'waitsFor', 'limit', 'cursor'];
const STATUSES: readonly ExecutionStatus[] = ['pending', 'running', 'suspended', 'paused', 'completed', 'failed', 'cancelled'];

/** One page of executions. */
export async function listPage(db: Runner, options: ListOptions | undefined): Promise<ListPage> {
  const filter = checkFilter(checkKeys<ListOptions>(options, KEYS, 'options'));
  try {
    const { items, next } = await listExecutions(db, filter);
    return { items: items.map(toExecution), ...(next === undefined ? {} : { next }) };
  } catch (error) {
    if (error instanceof RangeError) throw new InvalidArgumentError('RHYTHM_OPTION_INVALID', 'options.cursor', error.message);
    throw error;
  }
}

function checkFilter(options: ListOptions): ExecutionFilter {
  const { status, type, name, queue, parentId, tag, createdAfter, createdBefore, waitsFor, limit, cursor } = options;
  const filter: ExecutionFilter = {};
  if (status !== undefined) {
    const words: unknown = typeof status === 'string' ? [status] : status;
    if (!Array.isArray(words)) {
      throw new InvalidArgumentError(
        'RHYTHM_OPTION_INVALID',
        'options.status',
        `options.status is ${describeValue(status)}, not a status or an array of statuses: ${STATUSES.join(', ')}.`,
      );
    }
    // A repeated one means nothing, and a million of them would be a megabyte of parameters.
    filter.status = [...new Set(words.map((word) => checkChoice(word, 'options.status', STATUSES)))];
  }
  if (type !== undefined) filter.type = checkChoice(type, 'options.type', ['task', 'workflow']);
  if (name !== undefined) filter.name = checkName(name, 'options.name');
  if (queue !== undefined) filter.queue = checkName(queue, 'options.queue');
  if (parentId !== undefined) filter.parentId = parentId === null ? null : checkAnyId(parentId, 'options.parentId');
  if (tag !== undefined) filter.tag = checkName(tag, 'options.tag');
  if (createdAfter !== undefined) filter.createdAfter = parseInstant(createdAfter, 'options.createdAfter');
  if (createdBefore !== undefined) filter.createdBefore = parseInstant(createdBefore, 'options.createdBefore');
  if (waitsFor !== undefined) filter.waitsFor = checkWaitsFor(waitsFor);
  if (limit !== undefined) filter.limit = checkInteger(limit, 'options.limit', 1, 1_000);
  if (cursor !== undefined) filter.cursor = checkString(cursor, 'options.cursor', 10_000, 'RHYTHM_OPTION_INVALID');
  return filter;
}

const WITHOUT_NAME: readonly WaitingKind[] = ['timer', 'worker'];

function checkWaitsFor(given: WaitsFor): WaitsFor {
  const { kind, name } = checkKeys<WaitsFor>(given, ['kind', 'name'], 'options.waitsFor');
  checkChoice(kind, 'options.waitsFor.kind', WAITING_KINDS);
  if (name === undefined) return { kind };
  if (WITHOUT_NAME.includes(kind)) {
    throw new InvalidArgumentError(
      'RHYTHM_OPTION_INVALID',
      'options.waitsFor.name',
      `options.waitsFor.name is given, but what waits for a ${kind} waits for no name. Leave it out.`,
    );
  }
  return { kind, name: checkName(name, 'options.waitsFor.name') };
}
