// `CompletionService`: ends a task from outside the worker, with the token that the task passed on.

import { Inject, Injectable } from '@nestjs/common';
import { errorFacts, toJsonText } from '../../libs/engine/index.js';
import { ANY, bucketOf, commitWork, findToken, getExecution, retrying, type Store, type TokenTarget } from '../../libs/store/index.js';
import { checkString, describeValue } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { DatabaseHost } from '../database/database.host.js';
import { CompletionBusyError, CompletionTokenError, InvalidArgumentError } from '../errors.js';
import { RhythmEvents } from '../events/rhythm.events.js';
import { RHYTHM_SETTINGS } from '../module-options.js';

/** The error of a task that is ended as failed from outside. */
export interface CompletionFailure {
  message: string;
  name?: string;
  code?: string;
  /** Reaches the flow as `error.data`. */
  data?: unknown;
}

interface End {
  status: 'completed' | 'failed';
  /** JSON text of the result … */
  output?: string;
  /** … or of the error. */
  error?: string;
}

// A lost fence means that the task was changed since its token was read, mostly by its own commit of `completeLater`: then the token
// is read again. A task is not changed often, so a few tries are enough.
const TRIES = 5;
const RETRY_MS = 20;

/**
 * Ends tasks that called `ctx.completeLater()`: from an HTTP handler, a message consumer, another process.
 * A token works once, and only while the attempt that made it is the current one. It stays valid while the task is paused:
 * completing a paused task ends it.
 *
 * @publicApi
 */
@Injectable()
export class CompletionService {
  private readonly store: Store;

  constructor(
    database: DatabaseHost,
    private readonly events: RhythmEvents,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
  ) {
    this.store = database.store;
  }

  /** Ends the task with a result. */
  async complete(token: string, result?: unknown): Promise<void> {
    await this.end(token, { status: 'completed', output: toJsonText(result, 'result', this.loaded.settings.limits) });
  }

  /** Ends the task as failed, without another attempt. */
  async fail(token: string, failure: CompletionFailure): Promise<void> {
    if (typeof failure !== 'object' || failure === null) {
      throw new InvalidArgumentError(
        'RHYTHM_OPTION_INVALID',
        'failure',
        `failure is ${describeValue(failure)}, not { message, name?, code?, data? }.`,
      );
    }
    const { message, name = 'Error', code, data } = failure;
    checkString(message, 'failure.message', 10_000, 'RHYTHM_OPTION_INVALID');
    await this.end(token, { status: 'failed', error: toJsonText({ name, message, code, data }, 'failure', this.loaded.settings.limits) });
  }

  private async end(token: string, end: End): Promise<void> {
    checkString(token, 'token', 10_000, 'RHYTHM_COMPLETION_TOKEN');
    for (let tried = 1; tried <= TRIES; tried++) {
      const target = await findToken(this.store.db, token);
      if (!target)
        throw new CompletionTokenError(
          'The token is invalid or was used before: its task has ended or was removed. Pass what ctx.completeLater() returned, unchanged and only once.',
        );
      if (!target.valid) throw tooLate(target);
      if (await this.write(target, end)) return;
      if (tried === TRIES) throw new CompletionBusyError(target.id);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * (tried - 1)));
    }
  }

  // False when the task was changed since its token was read.
  private async write(target: TokenTarget, end: End): Promise<boolean> {
    const { id, bucket, fence, startedAt, parentId, parentCall } = target;
    const attempts = target.attempts + (end.status === 'failed' ? 1 : 0);
    const parent = parentId === null || parentCall === null ? undefined : { id: parentId, bucket: bucketOf(parentId), call: parentCall };
    const task = { id, bucket, fence, attempts, startedAt, parent, clearSchedule: true, ...end };
    const { tasks } = await retrying(() => commitWork(this.store.db, { workerId: 'outside', tasks: [task], turns: [], claims: [] }));
    if (!tasks[0]) return false;
    this.store.hints.hint('ended', id);
    // What is started because of the failure may be in any queue.
    if (end.status === 'failed') this.store.hints.hint('work', ANY);
    if (parent) this.store.hints.hint('work', (await getExecution(this.store.db, parent.id))?.queue ?? 'default');
    this.reportEnd(target, end);
    return true;
  }

  private reportEnd({ id, name, queue, parentId, attempts, runningMs }: TokenTarget, { status, error }: End): void {
    const { events } = this;
    const facts = { executionId: id, name, kind: 'task' as const, queue, version: null, parentId };
    if (error !== undefined && events.hasListeners('failed'))
      events.emit({ type: 'failed', ...facts, attempts: attempts + 1, error: errorFacts(error) });
    if (events.hasListeners('finished')) events.emit({ type: 'finished', ...facts, status, attempts: attempts + 1, durationMs: runningMs });
  }
}

function tooLate({ id, status }: TokenTarget): CompletionTokenError {
  return new CompletionTokenError(
    `The token of execution "${id}" is not valid any more (the execution is ${status}): it was used before, or its attempt was cancelled, timed out, was lost, or was paused before the task had returned. Nothing was changed.`,
  );
}
