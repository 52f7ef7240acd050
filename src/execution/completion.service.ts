// `CompletionService`: ends a task from outside the worker, by the token that the task gave away.

import { Inject, Injectable } from '@nestjs/common';
import { toJsonText } from '../../libs/engine/index.js';
import { bucketOf, commitWork, findToken, getExecution, retrying, type Store, type TokenTarget } from '../../libs/store/index.js';
import { checkText } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { DatabaseHost } from '../database/database.host.js';
import { CompletionBusyError, CompletionTokenError } from '../errors.js';
import { RHYTHM_SETTINGS } from '../module-options.js';

/** The error of a task that the outside declares failed. */
export interface CompletionFailure {
  message: string;
  name?: string;
  code?: string;
  /** Reaches the flow as `error.data`. */
  data?: unknown;
}

// A lost fence means that somebody moved the task since its token was read, mostly the hand-over itself: the next look tells.
// Nobody moves a task often, so a few looks are enough.
const LOOKS = 5;
const LOOK_AGAIN_MS = 20;

/**
 * Ends tasks that called `ctx.completeLater()`: from an HTTP handler, a message consumer, another process.
 * A token works once, and only while the attempt that made it is the present one. It outlives a pause of the task that was
 * handed over: completing a paused task ends it.
 *
 * @publicApi
 */
@Injectable()
export class CompletionService {
  private readonly store: Store;

  constructor(
    database: DatabaseHost,
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
    const { message, name = 'Error', code, data } = failure;
    checkText(message, 'failure.message', 10_000, 'RHYTHM_OPTION_INVALID');
    await this.end(token, { status: 'failed', error: toJsonText({ name, message, code, data }, 'failure', this.loaded.settings.limits) });
  }

  private async end(token: string, end: { status: 'completed' | 'failed'; output?: string; error?: string }): Promise<void> {
    checkText(token, 'token', 10_000, 'RHYTHM_COMPLETION_TOKEN');
    for (let look = 1; look <= LOOKS; look++) {
      const target = await findToken(this.store.db, token);
      if (!target)
        throw new CompletionTokenError(
          'The token is wrong or used up: its task has ended or was removed. Use what ctx.completeLater() returned, unchanged and once.',
        );
      if (!target.valid) throw tooLate(target);
      if (await this.write(target, end)) return;
      if (look === LOOKS) throw new CompletionBusyError(target.id);
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS * (look - 1)));
    }
  }

  // False when the task was moved since its token was read.
  private async write(target: TokenTarget, end: { status: 'completed' | 'failed'; output?: string; error?: string }): Promise<boolean> {
    const { id, bucket, fence, startedAt, parentId, parentCall } = target;
    const attempts = target.attempts + (end.status === 'failed' ? 1 : 0);
    const parent = parentId === null || parentCall === null ? undefined : { id: parentId, bucket: bucketOf(parentId), call: parentCall };
    const task = { id, bucket, fence, attempts, startedAt, parent, clearSchedule: true, ...end };
    const { tasks } = await retrying(() => commitWork(this.store.db, { workerId: 'outside', tasks: [task], turns: [], claims: [] }));
    if (!tasks[0]) return false;
    this.store.hints.hint('ended', id);
    if (parent) this.store.hints.hint('work', (await getExecution(this.store.db, parent.id))?.queue ?? 'default');
    return true;
  }
}

function tooLate({ id, status }: TokenTarget): CompletionTokenError {
  return new CompletionTokenError(
    `The token of execution "${id}" is used up (the execution is ${status}): it was completed before, or its attempt was cancelled, timed out, lost, or paused before it was handed over. Nothing was changed.`,
  );
}
