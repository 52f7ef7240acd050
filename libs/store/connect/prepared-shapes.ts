// Which of many similar statements one connection keeps prepared: those that it uses most, a bounded number.

import type { Statement } from './statement.js';

// The plan of a commit takes up to 0.7 MB of the backend, and there are hundreds of combinations of parts. A worker uses a few dozen.
const MOST = 48;
// A statement that is used once is not worth it. The plan of an unnamed one is gone with the next.
const FIRST_USES = 2;
// Only now and then the least used one is looked for.
const EVERY = 16;
// Uses of long ago count less and less.
const AGE_AFTER = 10_000;

interface Prepared {
  name: string;
  uses: number;
}

/** How to send a statement: under a name or without one, and a name that is no longer needed. */
export interface Sending {
  name?: string;
  drop?: string;
}

/** The prepared statements of one kind on one connection. */
export class PreparedShapes {
  private readonly prepared = new Map<Statement, Prepared>();
  private readonly others = new Map<Statement, number>();
  private sent = 0;
  private names = 0;

  constructor(private readonly most = MOST) {}

  use(statement: Statement): Sending {
    if (++this.sent % AGE_AFTER === 0) this.halveCounts();
    const known = this.prepared.get(statement);
    if (known) {
      known.uses++;
      return known;
    }
    const uses = (this.others.get(statement) ?? 0) + 1;
    this.others.set(statement, uses);
    if (uses < FIRST_USES) return {};
    if (this.prepared.size < this.most) return { name: this.prepare(statement, uses) };
    if (uses % EVERY !== 0) return {};
    const [least, { name: drop, uses: leastUses }] = this.leastUsed();
    if (uses <= leastUses) return {};
    this.prepared.delete(least);
    this.others.set(least, leastUses);
    return { name: this.prepare(statement, uses), drop };
  }

  // A name is not used again: the driver remembers the text of each.
  private prepare(statement: Statement, uses: number): string {
    this.others.delete(statement);
    const name = `${statement.name}_${++this.names}`;
    this.prepared.set(statement, { name, uses });
    return name;
  }

  private leastUsed(): [Statement, Prepared] {
    return [...this.prepared].reduce((least, one) => (one[1].uses < least[1].uses ? one : least));
  }

  private halveCounts(): void {
    for (const one of this.prepared.values()) one.uses >>= 1;
    for (const [statement, uses] of this.others) {
      if (uses < 2) this.others.delete(statement);
      else this.others.set(statement, uses >> 1);
    }
  }
}
