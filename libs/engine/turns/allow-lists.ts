// The allow-lists and the isolation that this process enforces: read from the database together, used for at most a second.

import { type FlowAllowList, intersectAllowLists } from '../../flow/index.js';
import { allowListsInForce, type Store, type VersionKey } from '../../store/index.js';
import type { Runtime } from '../runtime.js';
import type { FlowRules } from './programs.js';

// A turn never begins with a list that was read longer ago. One read serves every version that runs at the time, so a worker
// under load asks about once a second, however many workflows it runs.
const LONGEST_USE_MS = 1_000;

/** What a process that has loaded a workflow asks for. */
export interface OwnRules {
  readonly allow: FlowAllowList | undefined;
  readonly isolate?: boolean;
}

interface Entry extends VersionKey, FlowRules {
  /** When the read of it began. */
  at: number;
  /** It was used since then: the next read asks for it again. */
  used: boolean;
}

/**
 * What limits runs. They may name what the stored lists of their own version and of the current one, and that of this process, all
 * allow; they are isolated if one of the three asks for it.
 */
export class AllowLists {
  /** By name, then by version: a key of both would be put together at every step. */
  private entries = new Map<string, Map<string, Entry>>();
  private readonly wanted = new Map<string, VersionKey>();
  private reading: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    /** Those of the workflow of this name that this process has loaded. */
    private readonly own: (name: string) => OwnRules | undefined,
    private readonly runtime: Runtime,
  ) {}

  /** Those of a version; a promise when they must be read first. */
  of(name: string, version: string): FlowRules | Promise<FlowRules> {
    return this.fresh(name, version, this.runtime.monotonicNow()) ?? this.read(name, version);
  }

  private fresh(name: string, version: string, now: number): FlowRules | undefined {
    const entry = this.entries.get(name)?.get(version);
    if (!entry || now - entry.at >= LONGEST_USE_MS) return undefined;
    entry.used = true;
    return entry;
  }

  private async read(name: string, version: string): Promise<FlowRules> {
    const key = keyOf(name, version);
    // Measured from the time of the request: a read that takes longer than a list is used is still good for this one.
    const since = this.runtime.monotonicNow();
    for (;;) {
      this.wanted.set(key, { name, version });
      this.reading ??= this.readWanted();
      await this.reading;
      const rules = this.fresh(name, version, since);
      if (rules) return rules;
    }
  }

  private async readWanted(): Promise<void> {
    try {
      // Those that are asked for in the same moment are read together.
      await null;
      const at = this.runtime.monotonicNow();
      for (const versions of this.entries.values())
        for (const entry of versions.values()) if (entry.used) this.wanted.set(keyOf(entry.name, entry.version), entry);
      const keys = [...this.wanted.values()];
      this.wanted.clear();
      const rows = await allowListsInForce(this.store.db, keys);
      // Versions that were not used since the last read are forgotten, which bounds the memory.
      this.entries = new Map();
      for (const { name, version, allow, currentAllow, isolate } of rows) {
        const versions = this.entries.get(name) ?? new Map<string, Entry>();
        const own = this.own(name);
        const inForce = { allow: intersectAllowLists(allow, currentAllow, own?.allow), isolate: isolate || own?.isolate === true };
        this.entries.set(name, versions.set(version, { name, version, ...inForce, at, used: false }));
      }
    } finally {
      this.reading = undefined;
    }
  }
}

function keyOf(name: string, version: string): string {
  return `${name}\0${version}`;
}
