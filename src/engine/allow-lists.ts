// The allow-lists that this process enforces: read from the database together, believed for a second.

import { type FlowAllowList, intersectAllowLists } from '../../libs/flow/index.js';
import { allowListsInForce, type Store, type VersionKey } from '../../libs/store/index.js';

// A turn never begins with a list that was read longer ago. One read serves every version that runs at the time, so a worker
// under load asks about once a second, however many workflows it runs.
const BELIEVED_MS = 1_000;

interface Entry extends VersionKey {
  allow: FlowAllowList;
  /** When the read of it began. */
  at: number;
  /** It was used since then: the next read asks for it again. */
  used: boolean;
}

/** What runs may name: what the stored lists of their own version and of the current one, and that of this process, all allow. */
export class AllowLists {
  private entries = new Map<string, Entry>();
  private readonly wanted = new Map<string, VersionKey>();
  private reading: Promise<void> | undefined;

  constructor(
    private readonly store: Store,
    /** The list of the workflow of this name that this process has loaded. */
    private readonly own: (name: string) => FlowAllowList | undefined,
  ) {}

  /** The list of a version; a promise when it must be read first. */
  of(name: string, version: string): FlowAllowList | Promise<FlowAllowList> {
    return this.believed(keyOf(name, version), performance.now()) ?? this.read(name, version);
  }

  private believed(key: string, now: number): FlowAllowList | undefined {
    const entry = this.entries.get(key);
    if (!entry || now - entry.at >= BELIEVED_MS) return undefined;
    entry.used = true;
    return entry.allow;
  }

  private async read(name: string, version: string): Promise<FlowAllowList> {
    const key = keyOf(name, version);
    // Measured from the time of the request: a read that takes longer than a list is believed is still good for this one.
    const since = performance.now();
    for (;;) {
      this.wanted.set(key, { name, version });
      this.reading ??= this.readWanted();
      await this.reading;
      const allow = this.believed(key, since);
      if (allow) return allow;
    }
  }

  private async readWanted(): Promise<void> {
    try {
      // Those that are asked for in the same moment are read together.
      await null;
      const at = performance.now();
      for (const [key, entry] of this.entries) if (entry.used) this.wanted.set(key, entry);
      const keys = [...this.wanted.values()];
      this.wanted.clear();
      const rows = await allowListsInForce(this.store.db, keys);
      // Versions that were not used since the last read are forgotten, which bounds the memory.
      this.entries = new Map(
        rows.map(({ name, version, allow, currentAllow }) => [
          keyOf(name, version),
          { name, version, allow: intersectAllowLists(allow, currentAllow, this.own(name)), at, used: false },
        ]),
      );
    } finally {
      this.reading = undefined;
    }
  }
}

function keyOf(name: string, version: string): string {
  return `${name}\0${version}`;
}
