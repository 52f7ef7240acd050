// Finds the programs of workflows: those loaded in this process first, then those in the database.

import { type FlowLimits, loadProgram, type Program, restoreRun, startRun, takesSignals } from '../../flow/index.js';
import { IsolationPool } from '../../isolation/index.js';
import { currentVersion, getProgram, type Store } from '../../store/index.js';
import { REAL_RUNTIME, type Runtime } from '../runtime.js';
import { AllowLists, type OwnRules } from './allow-lists.js';
import { isolatedRuns } from './isolated-run.js';
import type { FlowRules, ProgramLoader, RunnableProgram } from './programs.js';

/** The workflows that this process has loaded. */
export interface LoadedFlows {
  get(name: string): ({ version: string; program: Program } & OwnRules) | undefined;
}

// Programs that this process has not loaded itself; one never changes, so it can be kept.
const CACHED = 200;
// How long "there is no such workflow" and "this is the current version" are used without another read.
const CURRENT_MS = 1_000;

/** The loader of a process with loaded flows and a store. */
export class StoredPrograms implements ProgramLoader {
  private readonly cache = new Map<string, RunnableProgram>();
  private readonly current = new Map<string, { version: string | undefined; at: number }>();
  private readonly allowLists: AllowLists;

  constructor(
    private readonly store: Store,
    private readonly flows: LoadedFlows,
    private readonly limits: Partial<FlowLimits>,
    private readonly runtime: Runtime = REAL_RUNTIME,
    /** Starts no process before the first turn of an isolated flow. Whoever passes one closes it. */
    private readonly isolation = new IsolationPool(),
  ) {
    this.allowLists = new AllowLists(store, (name) => flows.get(name), runtime);
  }

  async load(name: string, version: string, fingerprint?: string): Promise<RunnableProgram | undefined> {
    const keyOf = (print = '') => `${name}\0${version}\0${print}`;
    const key = keyOf(fingerprint);
    const known = this.cache.get(key);
    if (known) return known;
    const program = await this.find(name, version, fingerprint);
    if (!program) return undefined;
    const runnable = this.runnable(program);
    // The snapshot of a first turn names the program that the turn was run with.
    for (const each of [key, keyOf(program.fingerprint)]) this.cache.set(each, runnable);
    while (this.cache.size > CACHED) this.cache.delete(this.cache.keys().next().value as string);
    return runnable;
  }

  // A process that has the flow loaded starts its own source; otherwise the version that is current in the database.
  async resolve(name: string): Promise<string | undefined> {
    const loaded = this.flows.get(name);
    if (loaded) return loaded.version;
    const known = this.current.get(name);
    if (known && this.runtime.monotonicNow() - known.at < CURRENT_MS) return known.version;
    const version = await currentVersion(this.store.db, name);
    this.current.set(name, { version, at: this.runtime.monotonicNow() });
    return version;
  }

  rules(name: string, version: string): FlowRules | Promise<FlowRules> {
    return this.allowLists.of(name, version);
  }

  // The source of a version may have been compiled by another release: a state fits only the program it was taken of.
  private async find(name: string, version: string, fingerprint: string | undefined): Promise<Program | undefined> {
    const loaded = this.flows.get(name);
    if (loaded?.version === version && (fingerprint ?? loaded.program.fingerprint) === loaded.program.fingerprint) return loaded.program;
    const stored = await getProgram(this.store.db, name, version, fingerprint);
    return stored === undefined ? undefined : loadProgram(stored);
  }

  private runnable(program: Program): RunnableProgram {
    const { limits, isolation } = this;
    return {
      takesSignals: takesSignals(program),
      start: (inputs, context, numberAfter) => startRun(program, { inputs, context, numberAfter, limits }),
      restore: (snapshot, context, numberAfter) => restoreRun(program, snapshot, { context, numberAfter, limits }),
      isolated: isolatedRuns(isolation, program, limits),
    };
  }
}
