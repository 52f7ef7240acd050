// `SignalService`: sends signals to workflow runs.

import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { toJsonText } from '../../libs/engine/index.js';
import { getExecution, type Store, sendSignals } from '../../libs/store/index.js';
import { checkAnyId, checkKeys, checkName, checkString, MAX_KEY_LENGTH } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { afterTransaction, inCallersTransaction } from '../database/callers-transaction.js';
import { DatabaseHost } from '../database/database.host.js';
import { SignalToTaskError, TooManySignalsError } from '../errors.js';
import { RhythmEvents } from '../events/rhythm.events.js';
import { RHYTHM_SETTINGS } from '../module-options.js';

/** Options of `send`. */
export interface SignalOptions {
  /** A second signal with the same key for the same run is dropped, so it is safe to send a signal again. */
  key?: string;
  /** Of an open transaction: the signal exists if and only if it commits. */
  manager?: EntityManager;
}

/** What happened to a signal. */
export interface SentSignal {
  /** False when there was a signal with the same key already. */
  accepted: boolean;
  /** False when no execution with this id was visible; the signal is kept for it anyway. */
  known: boolean;
  /** True when the run is completed or cancelled: nothing will take the signal. */
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
   * Sends a signal. It is kept until a wait takes it, even if the run does not wait for it yet or has not been started.
   * Throws a `SignalToTaskError`, and writes nothing, when the execution is a task, and a
   * `TooManySignalsError` when `limits.signalsPerRun` signals wait for the run that no wait has taken.
   */
  async send(executionId: string, name: string, payload?: unknown, options?: SignalOptions): Promise<SentSignal> {
    const { key, manager } = checkKeys<SignalOptions>(options, ['key', 'manager'], 'options');
    const signal = {
      executionId: checkAnyId(executionId, 'executionId'),
      name: checkName(name, 'name'),
      payload: toJsonText(payload, 'payload', this.loaded.settings.limits),
      dedupeKey: key === undefined ? undefined : checkString(key, 'options.key', MAX_KEY_LENGTH, 'RHYTHM_OPTION_INVALID'),
    };
    const most = this.loaded.settings.limits.signalsPerRun;
    const [sent] = manager
      ? await inCallersTransaction(this.store, manager, 'options.manager', (db) => sendSignals(db, [signal], most))
      : await sendSignals(this.store.db, [signal], most);
    const { accepted, known, ended, queue, refused, full } = sent!;
    if (refused) throw new SignalToTaskError(executionId, refused.name, refused.parentId);
    if (full) throw new TooManySignalsError(executionId, most);
    if (!accepted) return this.duplicate(executionId);
    this.announce(queue, manager);
    // Whether the caller's transaction commits is not known here.
    if (!manager) this.events.emit({ type: 'signal-sent', executionId, signal: name });
    return { accepted, known, ended };
  }

  // A duplicate writes nothing, so the statement did not read the run.
  private async duplicate(executionId: string): Promise<SentSignal> {
    const run = await getExecution(this.store.db, executionId);
    return { accepted: false, known: run !== undefined, ended: run?.status === 'completed' || run?.status === 'cancelled' };
  }

  // Wakes the run's queue; the timer loop looks for a run that was not visible.
  private announce(queue: string | undefined, manager?: EntityManager): void {
    const send = () => (queue === undefined ? this.store.hints.hint('timer', '*') : this.store.hints.hint('work', queue));
    manager ? afterTransaction(manager, send) : send();
  }
}
