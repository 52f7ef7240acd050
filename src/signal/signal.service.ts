// `SignalService`: sends signals to workflow runs.

import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toJsonText } from '../../libs/engine/index.js';
import { getExecution, type Store, sendSignals } from '../../libs/store/index.js';
import { checkAnyId, checkKeys, checkName, checkText, MAX_KEY_LENGTH } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { afterTransaction, inCallersTransaction } from '../database/callers-transaction.js';
import { DatabaseHost } from '../database/database.host.js';
import { SignalToTaskError } from '../errors.js';
import { RhythmEvents } from '../events/rhythm.events.js';
import { RHYTHM_SETTINGS } from '../module-options.js';

/** Options of `send`. */
export interface SignalOptions {
  /** A second signal with the same key for the same run is dropped, so a sender may safely try again. */
  key?: string;
  /** Of an open transaction: the signal exists if that commits, and only then. */
  manager?: EntityManager;
}

/** What became of a signal. */
export interface SentSignal {
  /** False when a signal with the same key was there already. */
  accepted: boolean;
  /** False when no execution of this id was visible; the signal waits for it all the same. */
  known: boolean;
  /** True when the run is completed or cancelled: nobody will take the signal. */
  ended: boolean;
}

/**
 * Sends signals to workflow runs: `await Signal.when(name)` in the flow takes them, in the order they were sent.
 *
 * @publicApi
 */
@Injectable()
export class SignalService {
  private readonly store: Store;

  constructor(
    database: DatabaseHost,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
    private readonly events: RhythmEvents,
  ) {
    this.store = database.store;
  }

  /**
   * Sends a signal. It is kept until a wait takes it, also when the run has not begun to wait, or not been started yet.
   * Throws a `SignalToTaskError`, and writes nothing, when the execution is a task.
   */
  async send(executionId: string, name: string, payload?: unknown, options?: SignalOptions): Promise<SentSignal> {
    const { key, manager } = checkKeys<SignalOptions>(options, ['key', 'manager'], 'options');
    const signal = {
      executionId: checkAnyId(executionId, 'executionId'),
      name: checkName(name, 'name'),
      payload: toJsonText(payload, 'payload', this.loaded.settings.limits),
      dedupeKey: key === undefined ? undefined : checkText(key, 'options.key', MAX_KEY_LENGTH, 'RHYTHM_OPTION_INVALID'),
    };
    const [sent] = manager
      ? await inCallersTransaction(this.store, manager, 'options.manager', (db) => sendSignals(db, [signal]))
      : await sendSignals(this.store.db, [signal]);
    const { accepted, known, ended, queue, refused } = sent!;
    if (refused) throw new SignalToTaskError(executionId, refused.name, refused.parentId);
    if (!accepted) return this.twin(executionId);
    this.announce(queue, manager);
    // Whether the caller's transaction commits is not known here.
    if (!manager) this.events.emit({ type: 'signal-sent', executionId, signal: name });
    return { accepted, known, ended };
  }

  // A twin writes nothing, so the statement could not see the run.
  private async twin(executionId: string): Promise<SentSignal> {
    const run = await getExecution(this.store.db, executionId);
    return { accepted: false, known: run !== undefined, ended: run?.status === 'completed' || run?.status === 'cancelled' };
  }

  // The run's queue is woken; a run that was not visible is looked for by the timer loop.
  private announce(queue: string | undefined, manager?: EntityManager): void {
    const send = () => (queue === undefined ? this.store.hints.hint('timer', '*') : this.store.hints.hint('work', queue));
    manager ? afterTransaction(manager, send) : send();
  }
}
