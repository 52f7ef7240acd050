// Puts a commit together from the parts it needs: one statement, one name per combination of parts.

import type { Statement } from '../statement.js';

/** The parameters of a part: each an array, with the SQL type of its items. */
export type Columns = readonly (readonly [type: string, values: readonly unknown[]])[];

const statements = new Map<string, Statement>();

/** Collects the parts of one commit statement and their parameters. */
export class CommitBuilder {
  private readonly names: string[] = [];
  private readonly texts: (() => string)[] = [];
  readonly values: unknown[] = [];

  /**
   * Adds a part. `text` is given the `unnest(…)` of its columns, and is asked only when this combination of parts is new:
   * the same parts always take the same parameters in the same order, so their text is prepared once per connection.
   */
  add(name: string, columns: Columns, text: (unnest: string) => string): void {
    const first = this.values.length + 1;
    for (const [, values] of columns) this.values.push(values);
    this.names.push(name);
    this.texts.push(() => text(`unnest(${columns.map(([type], n) => `$${first + n}::${type}[]`).join(', ')})`));
  }

  has(name: string): boolean {
    return this.names.includes(name);
  }

  /** The statement: every part as a CTE, and `answer` behind them. */
  statement(answer: string): Statement {
    const key = this.names.join('+');
    let statement = statements.get(key);
    if (!statement) {
      const text = `WITH ${this.texts.map((part) => part()).join(',\n')}\n${answer}`;
      statement = { name: `rhythm_commit_${statements.size}`, text };
      statements.set(key, statement);
    }
    return statement;
  }
}
