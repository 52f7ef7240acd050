// `ExecutionService`: starts, reads and controls executions.

import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toJsonText } from '../../libs/engine/index.js';
import {
  countWaiting,
  countWaitingKinds,
  getExecution,
  type HistoryEntry,
  type InsertOptions,
  insertExecutions,
  isEnded,
  type NewExecution,
  newId,
  pauseExecutions,
  type QueueStatus,
  RetryRefusedError,
  type Runner,
  readHistory,
  readQueues,
  readTree,
  readUnserved,
  readWorkers,
  removeExecutions,
  requestCancel,
  restartExecution,
  resumeExecutions,
  retryExecution,
  retrying,
  rootOf,
  type StartAgainOutcome,
  type Store,
  startAgain,
  type UnservedTask,
  versionsInUse,
  type WaitingCount,
  type WaitingKind,
  type WorkerStatus,
} from '../../libs/store/index.js';
import { checkAnyId, checkInteger, checkKeys, checkName, checkString } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { silentAfter } from '../config/silent-after.js';
import { afterTransaction, inCallersTransaction } from '../database/callers-transaction.js';
import { DatabaseHost } from '../database/database.host.js';
import { type Duration, parseDuration } from '../duration.js';
import {
  EraseRefusedError,
  ExecutionConflictError,
  ExecutionNotFoundError,
  ExecutionStateError,
  InvalidArgumentError,
  StartContendedError,
} from '../errors.js';
import { RHYTHM_OPTIONS, RHYTHM_SETTINGS, type RhythmModuleOptions } from '../module-options.js';
import { type Erased, eraseOne, eraseTagged, removeStates } from './erase.js';
import { type Execution, type ExecutionTree, toExecution, toTree } from './execution.js';
import { type Inspection, inspectRun } from './inspect-run.js';
import { type KeptSnapshot, keptSnapshots } from './kept-snapshots.js';
import { type ListOptions, type ListPage, listPage } from './list-page.js';
import { QueueDepths } from './queue-depths.js';
import { Replacements, stillBusy } from './replacements.js';
import { ResultWaiter } from './result-waiter.js';
import { StartBatcher, sortedForLocking } from './start-batcher.js';
import { checkStartOptions, executionAgain, newExecution, type StartOptions } from './start-options.js';
import { type StartTarget, TargetResolver } from './target.resolver.js';

const MOST_TURNS = 2_147_483_647;

/** What `inspect` may be asked for. */
export interface InspectOptions {
  /** The state after this turn instead of the present one; it must have been kept (`history.snapshots`). */
  turn?: number;
}

/** Which runs `waiting` counts. */
export interface WaitingOptions {
  workflow?: string;
  version?: string;
  /** Rows at most, 1 … 10,000; default 1,000. */
  limit?: number;
}

/** What a start returns. */
export interface StartedExecution {
  id: string;
  /** False when the same run had been started before (same id or key, same input). */
  created: boolean;
}

/** One of many starts. */
export interface StartRequest {
  name: string;
  input?: unknown;
  options?: Omit<StartOptions, 'manager'>;
}

/** Options of `result`. */
export interface ResultOptions {
  /** Stops waiting after this time with a `ResultTimeoutError`; default: waits as long as it takes. */
  timeout?: Duration;
  signal?: AbortSignal;
}

/** The state of the whole system. */
export interface SystemStatus {
  queues: QueueStatus[];
  workers: WorkerStatus[];
  /** Tasks with waiting executions that no live worker of their queue has. */
  unserved: UnservedTask[];
  /** Runs of each workflow version that have not ended, counted among the first and the last 5,000 runs of each workflow. */
  versions: { name: string; version: string; runs: number }[];
  /** How many suspended executions wait for each kind; one that waits for several counts in each. */
  waiting: Partial<Record<WaitingKind, number>>;
}

/** Options of `restart`. */
export interface RestartOptions {
  /** The input of the new run; default: that of the old one. */
  input?: unknown;
}

const NOT_ENDED = "Only an execution that has ended can be restarted. Cancel it first, or start it with onConflict: 'cancel-running'.";

// One statement of startMany.
const BATCH = 1_000;
const REQUEST_KEYS = ['name', 'input', 'options'];
const IN_TRANSACTION = { inTransaction: true };
const AND_LOCK = { ...IN_TRANSACTION, returnLiving: true };

/**
 * Starts, reads and controls executions.
 *
 * @publicApi
 */
@Injectable()
export class ExecutionService implements OnModuleDestroy {
  private readonly store: Store;
  private readonly withNewId: StartBatcher;
  private readonly withGivenId: StartBatcher;
  private readonly waiter: ResultWaiter;
  private readonly replacements: Replacements;
  private readonly depths: QueueDepths;

  constructor(
    database: DatabaseHost,
    private readonly targets: TargetResolver,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
    @Inject(RHYTHM_OPTIONS) private readonly options: RhythmModuleOptions,
  ) {
    this.store = database.store;
    // A start with an id or a key may wait for an equal one in an open transaction; starts with new ids never share its statement.
    this.withNewId = new StartBatcher(this.store.starts);
    this.withGivenId = new StartBatcher(this.store.db);
    this.waiter = new ResultWaiter(this.store);
    this.depths = new QueueDepths(this.store, this.options.queues);
    this.replacements = new Replacements(this.store, this.waiter, this.loaded.settings.cancel.grace);
  }

  onModuleDestroy(): void {
    this.waiter.close();
  }

  /** Starts a workflow or a task by name. Resolves with its id, without waiting for its end. */
  async start(name: string, input?: unknown, options?: StartOptions): Promise<StartedExecution> {
    const checked = checkStartOptions(options, 'options');
    const target = await this.targets.resolve(name, checked, 'options');
    const execution = newExecution(target, input, checked, 'options', this.loaded.settings.limits);
    if (this.depths.hasLimits) await this.depths.admit([execution]);
    const { manager, id, idempotencyKey, onConflict } = checked;
    if (onConflict === 'restart-ended' || onConflict === 'cancel-running') return this.startAgain(execution, checked);
    const batcher = id === undefined && idempotencyKey === undefined ? this.withNewId : this.withGivenId;
    const outcome = manager
      ? (await inCallersTransaction(this.store, manager, 'options.manager', (db) => insertExecutions(db, [execution], IN_TRANSACTION)))[0]!
      : await batcher.start(execution);
    this.announce([execution], manager);
    return started(outcome, checked);
  }

  // A start that may replace the run that has its id.
  private async startAgain(execution: NewExecution, options: StartOptions): Promise<StartedExecution> {
    const { manager, onConflict } = options;
    const outcome =
      onConflict === 'cancel-running'
        ? await this.replacements.afterCancel(execution)
        : manager
          ? await inCallersTransaction(this.store, manager, 'options.manager', (db) => startAgain(db, execution, AND_LOCK))
          : await this.replacements.ofEnded(execution);
    this.announce([execution], manager);
    return started(outcome, options);
  }

  /** Starts many at once, one statement per thousand. Of one statement, all are stored or none. */
  async startMany(requests: readonly StartRequest[], options?: { manager?: EntityManager }): Promise<StartedExecution[]> {
    const { manager } = checkKeys<{ manager?: EntityManager }>(options, ['manager'], 'options');
    if (!Array.isArray(requests))
      throw new InvalidArgumentError('RHYTHM_OPTION_INVALID', 'requests', 'requests is not an array of { name, input, options }.');
    const executions = await this.executionsOf(requests);
    if (this.depths.hasLimits) await this.depths.admit(executions);
    const optionsOf = new Map(executions.map((execution, index) => [execution, requests[index]!.options ?? {}]));
    const mayReplace = (execution: NewExecution) => optionsOf.get(execution)?.onConflict === 'restart-ended';
    const outcomes = new Map<NewExecution, StartAgainOutcome>();
    for (let from = 0; from < executions.length; from += BATCH) {
      const batch = sortedForLocking(executions.slice(from, from + BATCH), (execution) => execution);
      const stored = await this.storeBatch(batch, batch.some(mayReplace) ? mayReplace : undefined, manager);
      batch.forEach((execution, index) => {
        outcomes.set(execution, stored[index]!);
      });
    }
    this.announce(executions, manager);
    return executions.map((execution) => started(outcomes.get(execution)!, optionsOf.get(execution)!));
  }

  private storeBatch(
    batch: readonly NewExecution[],
    mayReplace: ((execution: NewExecution) => boolean) | undefined,
    manager: EntityManager | undefined,
  ): Promise<StartAgainOutcome[]> {
    const store = async (db: Runner, options: InsertOptions) => {
      if (!mayReplace) return insertExecutions(db, batch, options);
      const plain = batch.filter((execution) => !mayReplace(execution));
      const outcomes = new Map<NewExecution, StartAgainOutcome>();
      for (const [index, outcome] of (await insertExecutions(db, plain, options)).entries()) outcomes.set(plain[index]!, outcome);
      for (const execution of batch)
        if (mayReplace(execution)) outcomes.set(execution, await startAgain(db, execution, { ...options, returnLiving: true }));
      return batch.map((execution) => outcomes.get(execution)!);
    };
    if (manager) return inCallersTransaction(this.store, manager, 'options.manager', (db) => store(db, IN_TRANSACTION));
    // One statement is a transaction by itself.
    return retrying(() => (mayReplace ? this.store.db.transaction((tx) => store(tx, {})) : store(this.store.db, {})));
  }

  // Many starts are mostly of a few names, each of which is looked up once, and often share their options, which are read once.
  private async executionsOf(requests: readonly StartRequest[]): Promise<NewExecution[]> {
    const { limits } = this.loaded.settings;
    const targets = new Map<string, StartTarget>();
    const executions: NewExecution[] = [];
    let before: { request: StartRequest; execution: NewExecution } | undefined;
    for (const [index, request] of requests.entries()) {
      const path = `requests[${index}]`;
      if (request === null || request === undefined) {
        throw new InvalidArgumentError('RHYTHM_OPTION_INVALID', path, `${path} is ${request}, not { name, input, options }.`);
      }
      checkKeys(request, REQUEST_KEYS, path);
      const { name, input, options } = request;
      if (before && name === before.request.name && options === before.request.options && before.execution.fresh) {
        executions.push({ ...before.execution, id: newId(), input: toJsonText(input, `${path}.input`, limits) });
        continue;
      }
      const checked = checkStartOptions(options, `${path}.options`);
      if (checked.onConflict === 'cancel-running')
        throw new InvalidArgumentError(
          'RHYTHM_OPTION_INVALID',
          `${path}.options.onConflict`,
          `${path}.options.onConflict is 'cancel-running', which waits for a run to end. Use start for it.`,
        );
      const key = JSON.stringify([name, checked.type, checked.version, checked.onFailure]);
      const target = targets.get(key) ?? (await this.targets.resolve(name, checked, `${path}.options`));
      targets.set(key, target);
      const execution = newExecution(target, input, checked, `${path}.options`, limits);
      executions.push(execution);
      before = { request, execution };
    }
    return executions;
  }

  /** One execution; throws an `ExecutionNotFoundError` when there is none. */
  async get(id: string): Promise<Execution> {
    const record = await getExecution(this.store.db, checkAnyId(id, 'id'));
    if (!record) throw new ExecutionNotFoundError(id);
    return toExecution(record);
  }

  /** Waits for the end and returns the result; rejects with an error whose `cause` is the error of the run. */
  async result<T = unknown>(id: string, options?: ResultOptions): Promise<T> {
    const { timeout, signal } = checkKeys<ResultOptions>(options, ['timeout', 'signal'], 'options');
    const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout, 'options.timeout');
    return (await this.waiter.wait(checkAnyId(id, 'id'), { timeoutMs, signal })) as T;
  }

  /** Executions, newest first, page by page. */
  async list(options?: ListOptions): Promise<ListPage> {
    return listPage(this.store.reader, options);
  }

  /**
   * Requests that an execution is cancelled. The pending calls of a workflow reject with `CancelledError`, so that it can clean up;
   * its children are cancelled with it. An execution that has ended is not changed.
   */
  async cancel(id: string, options?: { reason?: string; manager?: EntityManager }): Promise<void> {
    const { reason, manager } = checkKeys<{ reason?: string; manager?: EntityManager }>(options, ['reason', 'manager'], 'options');
    if (reason !== undefined) checkString(reason, 'options.reason', 2_000, 'RHYTHM_OPTION_INVALID');
    checkAnyId(id, 'id');
    const seen = manager
      ? await inCallersTransaction(this.store, manager, 'options.manager', (db) => requestCancel(db, [id], reason))
      : await requestCancel(this.store.db, [id], reason);
    const found = seen.get(id);
    if (!found) throw new ExecutionNotFoundError(id);
    this.hintWork(found.queue, manager);
  }

  /**
   * Pauses an execution until `resume`. What a worker is doing for it at this moment is dropped, and done again after `resume`.
   * A task that called `completeLater()` and has returned keeps its token: completing it ends it, and after `resume` it waits again.
   */
  async pause(id: string): Promise<void> {
    const [paused] = await pauseExecutions(this.store.db, [checkAnyId(id, 'id')]);
    if (paused === undefined)
      await this.refuse(id, 'pause', ['paused'], 'Only an execution that has not ended and is not being cancelled can be paused.');
    this.store.hints.hint('lost', id);
  }

  /** Continues a paused execution. */
  async resume(id: string): Promise<void> {
    const [resumed] = await resumeExecutions(this.store.db, [checkAnyId(id, 'id')]);
    if (resumed === undefined) await this.refuse(id, 'resume', [], 'Only a paused execution can be resumed.');
    this.hintWork(await this.queueOf(id));
  }

  /** Runs the failed turn of a workflow again from its last stored await (a step that failed there runs again first), or a failed task. */
  async retry(id: string): Promise<void> {
    checkAnyId(id, 'id');
    const retried = await retrying(() => this.store.db.transaction((tx) => retryExecution(tx, id))).catch((error: unknown) => {
      if (!(error instanceof RetryRefusedError)) throw error;
      throw new ExecutionStateError(id, 'failed', 'retry', error.executionId === id ? error.why : error.message);
    });
    if (!retried) await this.refuse(id, 'retry', [], 'Only a failed execution can be retried.');
    this.hintWork(await this.queueOf(id));
  }

  /**
   * Runs an execution that has ended again from the beginning, under the same id: a new run with the same name, queue, options and
   * tags, in the version that a start would take now, and with the given input or the same. The old run is gone, with everything it
   * called.
   */
  async restart(id: string, options?: RestartOptions): Promise<void> {
    const given = checkKeys<RestartOptions>(options, ['input'], 'options');
    const record = await getExecution(this.store.db, checkAnyId(id, 'id'));
    if (!record) throw new ExecutionNotFoundError(id);
    const { parentId, type, name, status } = record;
    if (rootOf(id) !== id)
      throw new ExecutionStateError(
        id,
        `a part of execution "${parentId}"`,
        'restart',
        'Restart that one, or retry this one if it failed.',
      );
    if (!isEnded(status)) throw new ExecutionStateError(id, status, 'restart', NOT_ENDED);
    const { version } = await this.targets.resolve(name, { type }, 'options');
    const input = given.input === undefined ? undefined : toJsonText(given.input, 'options.input', this.loaded.settings.limits);
    const execution = executionAgain(record, version, input);
    if (!(await retrying(() => this.store.db.transaction((tx) => restartExecution(tx, execution))))) {
      const now = await this.get(id);
      throw isEnded(now.status) ? stillBusy(id, 'restart') : new ExecutionStateError(id, now.status, 'restart', NOT_ENDED);
    }
    this.announce([execution]);
  }

  /**
   * Removes an execution that has ended, with everything it called. An id that was chosen is remembered for `retention.keys`: a start of
   * it returns `created: false`.
   */
  async remove(id: string): Promise<void> {
    const removed = await removeExecutions(this.store.db, [checkAnyId(id, 'id')]);
    if (!removed.includes(id))
      await this.refuse(id, 'remove', [], 'Only an execution that has ended, with everything it called, can be removed. Cancel it first.');
    // A worker would do it within a minute.
    if (this.options.snapshotStore) await removeStates(this.store, removed, this.options.snapshotStore);
  }

  /**
   * Erases everything that is stored of a run that has ended, or of all runs with a tag: inputs, results, errors, signals, steps, history,
   * states inside and outside the database, with everything it called. Unlike `remove` it leaves nothing behind: the id may be used again.
   */
  async erase(target: string | { tag: string }): Promise<Erased> {
    const { snapshotStore } = this.options;
    if (typeof target === 'object' && target !== null) {
      const { tag } = checkKeys<{ tag: string }>(target, ['tag'], 'target');
      return eraseTagged(this.store, checkName(tag, 'target.tag'), snapshotStore);
    }
    const id = checkAnyId(target, 'target');
    const run = await getExecution(this.store.db, id);
    const erased = await eraseOne(this.store, id, snapshotStore);
    if (erased) return erased;
    if (run) throw new EraseRefusedError(id, run.status, run.parentId);
    throw new ExecutionNotFoundError(id);
  }

  /** An execution with its children, their children and so on. */
  async tree(id: string): Promise<ExecutionTree> {
    const tree = toTree(await readTree(this.store.reader, checkAnyId(id, 'id')), id);
    if (!tree) throw new ExecutionNotFoundError(id);
    return tree;
  }

  /** What happened, when, and on which worker if that is known: the last `limit` entries (default 1,000), oldest first. */
  async history(id: string, options?: { limit?: number }): Promise<HistoryEntry[]> {
    const { limit = 1_000 } = checkKeys<{ limit?: number }>(options, ['limit'], 'options');
    const entries = await readHistory(this.store.reader, checkAnyId(id, 'id'), checkInteger(limit, 'options.limit', 1, 10_000));
    if (entries.length === 0) throw new ExecutionNotFoundError(id);
    return entries;
  }

  /** The state of a workflow: source line, call stack, local variables, and what each branch waits for. */
  async inspect(id: string, options?: InspectOptions): Promise<Inspection> {
    const { turn } = checkKeys<InspectOptions>(options, ['turn'], 'options');
    const checked = turn === undefined ? null : checkInteger(turn, 'options.turn', 1, MOST_TURNS);
    return inspectRun(this.store.db, checkAnyId(id, 'id'), this.options.snapshotStore, checked);
  }

  /** The states that a run has kept of its last turns (`history.snapshots`), newest first: the last `limit` (default 100). */
  async snapshots(id: string, options?: { limit?: number }): Promise<KeptSnapshot[]> {
    const { limit = 100 } = checkKeys<{ limit?: number }>(options, ['limit'], 'options');
    checkAnyId(id, 'id');
    const kept = await keptSnapshots(this.store.reader, id, checkInteger(limit, 'options.limit', 1, 10_000));
    if (kept.length === 0 && !(await getExecution(this.store.reader, id))) throw new ExecutionNotFoundError(id);
    return kept;
  }

  /** How many runs wait for what, by workflow version and source line, the most first: at most `limit` rows (default 1,000). */
  async waiting(options?: WaitingOptions): Promise<WaitingCount[]> {
    const { workflow, version, limit = 1_000 } = checkKeys<WaitingOptions>(options, ['workflow', 'version', 'limit'], 'options');
    if (workflow !== undefined) checkName(workflow, 'options.workflow');
    if (version !== undefined) {
      checkString(version, 'options.version', 200, 'RHYTHM_OPTION_INVALID');
      if (workflow === undefined) {
        const message = 'options.version is given without options.workflow. Name the workflow too.';
        throw new InvalidArgumentError('RHYTHM_OPTION_INVALID', 'options.version', message);
      }
    }
    return countWaiting(this.store.reader, checkInteger(limit, 'options.limit', 1, 10_000), workflow, version);
  }

  /** Queues (including those without a worker), workers, and the workflow versions in use. */
  async status(): Promise<SystemStatus> {
    const { reader } = this.store;
    const [queues, workers, unserved, versions, waiting] = await Promise.all([
      readQueues(reader, silentAfter(this.loaded.settings.worker)),
      readWorkers(reader),
      readUnserved(reader),
      versionsInUse(reader),
      countWaitingKinds(reader),
    ]);
    return { queues, workers, unserved, versions, waiting };
  }

  private announce(executions: readonly NewExecution[], manager?: EntityManager): void {
    const queues = new Set(executions.filter(({ options }) => !options?.delayMs && !options?.runAt).map(({ queue }) => queue));
    const isTimed = executions.some(
      ({ options }) => options?.delayMs ?? options?.runAt ?? options?.totalTimeoutMs ?? options?.startTimeoutMs,
    );
    const send = () => {
      for (const queue of queues) this.store.hints.hint('work', queue);
      if (isTimed) this.store.hints.hint('timer', '*');
    };
    manager ? afterTransaction(manager, send) : send();
  }

  private hintWork(queue: string, manager?: EntityManager): void {
    const send = () => this.store.hints.hint('work', queue);
    manager ? afterTransaction(manager, send) : send();
  }

  private async queueOf(id: string): Promise<string> {
    return (await getExecution(this.store.db, id))?.queue ?? 'default';
  }

  // Nothing was changed. Throws the reason, unless the status is as requested already.
  private async refuse(id: string, action: string, accepted: string[], advice: string): Promise<void> {
    const { status } = await this.get(id);
    if (accepted.includes(status)) return;
    throw new ExecutionStateError(id, status, action, isEnded(status) && action === 'pause' ? `It has ended. ${advice}` : advice);
  }
}

function started({ id, outcome, differs }: StartAgainOutcome, { onConflict, idempotencyKey }: StartOptions): StartedExecution {
  if (outcome === 'contended') throw new StartContendedError(id);
  if (outcome === 'busy') throw stillBusy(id, 'start');
  if (outcome === 'conflict') throw new ExecutionConflictError(id, differs ?? 'input', idempotencyKey);
  if (outcome === 'existing' && onConflict === 'fail') throw new ExecutionConflictError(id, null, idempotencyKey);
  return { id, created: outcome !== 'existing' };
}
