// Runs one turn of a workflow: state and events in, something to be written out.

import { createHash } from 'node:crypto';
import { FlowSnapshotError, snapshotHeader } from '../../flow/index.js';
import type { LoadedRun, StoredEvent } from '../../store/index.js';
import type { WorkerParts } from '../engine-options.js';
import { factsOf } from '../execution-facts.js';
import { SnapshotStoreUnreachableError, UnreachableError } from '../unreachable.js';
import type { HeldItem } from '../work/held-work.js';
import { keptState, unneededRefs } from './kept-states.js';
import type { LongTurns } from './long-turns.js';
import type { Elsewhere, FlowRules } from './programs.js';
import { reach } from './reach.js';
import { SnapshotMissingError, type SnapshotStore } from './snapshot-store.js';
import type { ThreadShare } from './thread-share.js';
import { TreeLimits, type TreeRefusal } from './tree-limits.js';
import { type EffectRows, effectRows, type Versions, versionsOf } from './turn-effects.js';
import { toFlowEvents } from './turn-events.js';
import { contextOf, TurnHost } from './turn-host.js';
import { turnNotes } from './turn-notes.js';
import { type FinishedTurn, type StoredApart, TurnBasis, type TurnOutcome, type TurnState } from './turn-outcome.js';
import type { CachedRun } from './vm-cache.js';

/** A run that can take a turn now. */
type FoundRun = Pick<CachedRun, 'flow' | 'takesSignals'>;

/** A turn that has been given to the VM. */
interface Turn {
  item: HeldItem;
  basis: TurnBasis;
  found: FoundRun;
  stored: readonly StoredEvent[];
  signals: readonly StoredEvent[];
  host: TurnHost;
}

/** What is done about a turn that does not end in its first slice. */
export interface LongTurn {
  began?(): void;
  /** Rejects with TurnGivenUpError when it takes longer. */
  mostMs?: number;
}

/** What the run needs and the database does not have, with what to do about it. */
interface Missing {
  missing: string;
}

type StoredRun = Pick<LoadedRun, 'snapshot' | 'snapshotRef' | 'input' | 'calls'>;

// How long a run waits before it is tried again with a program that the database does not have or this worker cannot read.
const MISSING_PROGRAM_MS = 15_000;

export class TurnRunner {
  private readonly trees: TreeLimits;

  constructor(
    private readonly parts: WorkerParts,
    private readonly thread: ThreadShare,
    private readonly longTurns: LongTurns,
  ) {
    this.trees = new TreeLimits(parts);
  }

  /**
   * Runs a turn over all stored events of the run. Throws UnreachableError for what may be reachable later. The usual turn of a run
   * in memory waits for nothing, and then its outcome is returned at once.
   */
  run(item: HeldItem, state: TurnState, events: readonly StoredEvent[], long?: LongTurn): TurnOutcome | Promise<TurnOutcome> {
    const basis = new TurnBasis(item, state, this.parts.options);
    if ('cached' in state) {
      const { cached } = state;
      // Even for a run in memory: a list that was narrowed since its last turn applies to this one.
      const rules = this.parts.programs.rules(item.name, item.version ?? '');
      if (!(rules instanceof Promise) && !rules.isolate) {
        cached.flow.setAllowList(rules.allow);
        return this.turn(item, basis, cached, events, long);
      }
      // Waited for there: nobody else would see that they cannot be read, and that would end the process.
      return this.prepare(item, state, events, basis, long, rules);
    }
    return this.prepare(item, state, events, basis, long);
  }

  private async prepare(
    item: HeldItem,
    state: TurnState,
    events: readonly StoredEvent[],
    basis: TurnBasis,
    long: LongTurn | undefined,
    known?: FlowRules | Promise<FlowRules>,
  ): Promise<TurnOutcome> {
    const cancel = events.find((event) => event.kind === 'cancel');
    const cancelling = cancel !== undefined && !basis.wasCancelled;
    // Cancelled before its first turn: nothing to clean up, nothing to run.
    if (cancelling && !basis.hasState) return basis.cancelledAtOnce(cancel);
    const given = known ?? this.parts.programs.rules(item.name, item.version ?? '');
    const rules = given instanceof Promise ? await reach(() => given) : given;
    let found: FoundRun | Missing;
    try {
      found = 'cached' in state && !rules.isolate ? state.cached : await this.load(item, loadedOf(state), rules.isolate);
    } catch (error) {
      // As without its program, below.
      return cancelling && error instanceof SnapshotMissingError ? basis.cancelledAtOnce(cancel) : unusable(error, basis);
    }
    // Without its program a cancelled run cannot clean up; it must not wait forever either.
    if ('missing' in found)
      return cancelling ? basis.cancelledAtOnce(cancel) : basis.waiting(`Waits for ${found.missing}`, MISSING_PROGRAM_MS);
    found.flow.setAllowList(rules.allow);
    if (!found.flow.elsewhere) return this.turn(item, basis, found, events, long);
    try {
      return await this.turn(item, basis, found, events, undefined);
    } catch (error) {
      // Its state is restored where its turn is run.
      if (error instanceof FlowSnapshotError) return unusable(error, basis);
      throw error;
    }
  }

  private turn(
    item: HeldItem,
    basis: TurnBasis,
    found: FoundRun,
    stored: readonly StoredEvent[],
    long: LongTurn | undefined,
  ): TurnOutcome | Promise<TurnOutcome> {
    const wait = this.thread.wait();
    if (wait) return wait.then(() => this.turn(item, basis, found, stored, long));
    const { runtime } = this.parts;
    const { wasCancelled, hasState } = basis;
    const fed = toFlowEvents(stored, wasCancelled);
    const host = new TurnHost(item, runtime);
    this.announce(item, hasState);
    const turn = { item, basis, found, stored, signals: fed.signals, host };
    const began = runtime.monotonicNow();
    const result = found.flow.turn(fed.events, host);
    this.thread.count(runtime.monotonicNow() - began);
    if (result.status !== 'yielded') return this.finish(turn, result);
    long?.began?.();
    const rest = found.flow.elsewhere ? runElsewhere(item, found.flow.elsewhere) : this.longTurns.finish(found.flow, host, long?.mostMs);
    return rest.then((last) => this.finish(turn, last));
  }

  private finish(turn: Turn, result: FinishedTurn): TurnOutcome | Promise<TurnOutcome> {
    const versions = versionsOf(result.effects, this.parts.programs);
    if (versions) return this.withWorkflows(turn, result, versions);
    return this.outcome(turn, result, undefined);
  }

  private async withWorkflows(turn: Turn, result: FinishedTurn, versions: Promise<Versions>): Promise<TurnOutcome> {
    const known = await reach(() => versions);
    const children = result.effects.filter(({ kind }) => kind === 'workflow').length;
    return this.outcome(turn, result, known, await this.trees.refusal(turn.item.id, children));
  }

  private outcome(
    turn: Turn,
    result: FinishedTurn,
    versions: Versions | undefined,
    refusal?: TreeRefusal,
  ): TurnOutcome | Promise<TurnOutcome> {
    const { item, basis, found, stored, signals, host } = turn;
    const { tasks, options, events, runtime } = this.parts;
    const { flow, takesSignals } = found;
    const failing = result.status === 'failed' && !basis.wasCancelled && !result.cancelled;
    const rows = effectRows(item, result.effects, tasks, versions, failing, runtime, refusal);
    const isNoted = !failing && (options.maxSteps > 0 || events.hasListeners('signal-taken') || events.hasListeners('timer-fired'));
    const notes = isNoted ? turnNotes(result, stored, signals, host, result.status !== 'suspended') : [];
    const snapshot = result.status === 'suspended' ? flow.snapshot() : null;
    const made = { flow, takesSignals, events: stored, signals, result, rows, notes, snapshot, failing };
    const isOutside = snapshot !== null && this.isLarge(snapshot);
    if (!isOutside && options.maxSnapshots === 0) return basis.outcome(made);
    return this.storedApart(turn, rows, snapshot, isOutside).then((apart) => basis.outcome({ ...made, ...apart }));
  }

  // What is stored of the state besides the row of the run: a large one outside of it, and one that is kept for later.
  private async storedApart(
    { item, basis, host }: Turn,
    rows: EffectRows,
    snapshot: string | null,
    isOutside: boolean,
  ): Promise<StoredApart> {
    const { options, snapshots } = this.parts;
    const snapshotRef = isOutside && snapshot !== null ? await this.putOutside(item, snapshot) : undefined;
    if (options.maxSnapshots === 0) return { snapshotRef };
    const newest = snapshot === null ? basis.turn - 1 : basis.turn;
    const unneeded = snapshots ? await unneededRefs(this.parts, item, newest, basis.snapshotRef) : undefined;
    if (snapshot === null) return { unneeded };
    const known = { made: basis.cached?.made, pending: basis.steps, rows, turn: basis.turn, now: host.now() };
    return { snapshotRef, unneeded, ...(await keptState(this.parts, item, snapshot, known)) };
  }

  private async load(item: HeldItem, stored: StoredRun, isolate: boolean): Promise<FoundRun | Missing> {
    const { snapshot: inRow, snapshotRef, input, calls } = stored;
    const snapshot = inRow === null && snapshotRef !== null ? await this.readOutside(snapshotRef) : inRow;
    const fingerprint = snapshot === null ? undefined : snapshotHeader(snapshot).fingerprint;
    const program = await reach(() => this.parts.programs.load(item.name, item.version ?? '', fingerprint));
    if (!program) return missing(item, fingerprint);
    const context = contextOf(item);
    const { start, restore } = isolate ? program.isolated(item.crashes) : program;
    const flow = snapshot === null ? start(input ?? undefined, context, calls) : restore(snapshot, context, calls);
    return { flow, takesSignals: program.takesSignals };
  }

  private announce(item: HeldItem, hasState: boolean): void {
    const { events } = this.parts;
    if (hasState) {
      if (events.hasListeners('resumed')) events.emit({ type: 'resumed', ...factsOf(item) });
    } else if (events.hasListeners('started')) events.emit({ type: 'started', ...factsOf(item), attempt: 1 });
  }

  private isLarge(snapshot: string): boolean {
    const { snapshots } = this.parts;
    return snapshots !== undefined && Buffer.byteLength(snapshot) > snapshots.thresholdBytes;
  }

  private putOutside(item: HeldItem, snapshot: string): Promise<string> {
    // Ids may be long and contain any character; the name of a file must not.
    const name = `${createHash('sha256').update(item.id).digest('hex').slice(0, 32)}.${this.parts.runtime.randomUuid()}`;
    return reachSnapshots('Its state cannot be written', () => (this.parts.snapshots as SnapshotStore).put(name, snapshot));
  }

  private async readOutside(reference: string): Promise<string> {
    const { snapshots } = this.parts;
    const snapshot = await reachSnapshots(`The state "${reference}" cannot be read`, () => {
      if (!snapshots) throw new Error('This worker has no snapshotStore.');
      return snapshots.get(reference);
    });
    if (snapshot === undefined) throw new SnapshotMissingError(reference);
    return snapshot;
  }
}

// A run that is in memory and is isolated from now on goes on from its state, like any other.
function loadedOf(state: TurnState): StoredRun {
  if ('loaded' in state) return state.loaded;
  const { flow, calls } = state.cached;
  return { snapshot: flow.snapshot(), snapshotRef: null, input: null, calls };
}

// Its state or its program cannot be used.
function unusable(error: unknown, basis: TurnBasis): TurnOutcome {
  if (error instanceof UnreachableError) throw error;
  // Another worker can run it, even the clean-up of a cancelled run, so nothing is given up here.
  if (error instanceof FlowSnapshotError && error.code === 'FLOW_NEWER_FORMAT')
    return basis.waiting(`Waits for a worker with a newer release of nestjs-rhythm. ${error.message}`, MISSING_PROGRAM_MS);
  return basis.failed(error);
}

// A worker that stops, or was declared dead, ends the turn. Any other reason is an event for the next one, or a lost fence.
async function runElsewhere(item: HeldItem, turn: Elsewhere): Promise<FinishedTurn> {
  item.running = { stop: (reason) => (reason === 'shutdown' || reason === 'dead') && turn.stop() };
  try {
    return await turn.outcome();
  } finally {
    item.running = undefined;
  }
}

async function reachSnapshots<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw new SnapshotStoreUnreachableError(what, error);
  }
}

function missing({ name, version }: HeldItem, fingerprint: string | undefined): Missing {
  const which = `version ${version} of workflow "${name}"`;
  return {
    missing:
      fingerprint === undefined
        ? `${which}, which is not in the database. Start a process that has this source, or restore the definition.`
        : `program ${fingerprint} of ${which}, which is not in the database. Start a process that has this source and the release of nestjs-rhythm that compiled it, or restore the row in workflow_programs.`,
  };
}
