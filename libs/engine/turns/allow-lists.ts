// The allow-lists that this process enforces: read from the database together, used for at most a second.

import { type FlowAllowList, intersectAllowLists } from '../../flow/index.js';
import { allowListsInForce, type Store, type VersionKey } from '../../store/index.js';
import type { Runtime } from '../runtime.js';

// A turn never begins with a list that was read longer ago. One read serves every version that runs at the time, so a worker
// under load asks about once a second, however many workflows it runs.
const LONGEST_USE_MS = 1_000;

interface Entry extends VersionKey {
  allow: FlowAllowList;
  /** When the read of it began. */
  at: number;
  /** It was used since then: the next read asks for it again. */
  used: boolean;
}

/** What runs may name: what the stored lists of their own version and of the current one, and that of this process, all allow. */
export class AllowLists {
  /** By name, then by version: a key of both would be put together at every step. */
  private entries = new Map<string, Map<string, Entry>>();
  private readonly wanted = new Map<string, VersionKey>();
  private reading: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    /** The list of the workflow of this name that this process has loaded. */
    private readonly own: (name: string) => FlowAllowList | undefined,
    private readonly runtime: Runtime,
  ) {}

  /** The list of a version; a promise when it must be read first. */
  of(name: string, version: string): FlowAllowList | Promise<FlowAllowList> {
    return this.fresh(name, version, this.runtime.monotonicNow()) ?? this.read(name, version);
  }

  private fresh(name: string, version: string, now: number): FlowAllowList | undefined {
    const entry = this.entries.get(name)?.get(version);
    if (!entry || now - entry.at >= LONGEST_USE_MS) return undefined;
    entry.used = true;
    return entry.allow;
  }

  private async read(name: string, version: string): Promise<FlowAllowList> {
    const key = keyOf(name, version);
    // Measured from the time of the request: a read that takes longer than a list is used is still good for this one.
    const since = this.runtime.monotonicNow();
    for (;;) {
      this.wanted.set(key, { name, version });
      this.reading ??= this.readWanted();
      await this.reading;
      const allow = this.fresh(name, version, since);
      if (allow) return allow;
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
      for (const { name, version, allow, currentAllow } of rows) {
        const versions = this.entries.get(name) ?? new Map<string, Entry>();
        const inForce = intersectAllowLists(allow, currentAllow, this.own(name));
        this.entries.set(name, versions.set(version, { name, version, allow: inForce, at, used: false }));
      }
    } finally {
      this.reading = undefined;
    }
  }
}

function keyOf(name: string, version: string): string {
  return `${name}\0${version}`;
}
