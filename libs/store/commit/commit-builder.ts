// Puts a commit together from the parts it needs: one statement, one name per combination of parts.

import { arrayText } from '../array-text.js';
import type { Statement } from '../statement.js';

type Item = string | number | boolean | null;

/** The parameters of a part: each an array, with the SQL type of its items. */
export type Columns = readonly (readonly [type: string, values: readonly Item[]])[];
/** Parameters of a part that are the same for all its rows. */
export type Scalars = readonly (readonly [type: string, value: Item])[];

const statements = new Map<string, Statement>();

/** Collects the parts of one commit statement and their parameters. */
export class CommitBuilder {
  private readonly names: string[] = [];
  private readonly texts: (() => string)[] = [];
  readonly values: unknown[] = [];

  /** Hopeful: everybody is taken to win, and the statement fails as a whole if somebody did not. */
  constructor(readonly hopeful: boolean) {}

  /** Keeps the rows of an unnest `d` whose turn won its fence. */
  get ofWinner(): string {
    return this.won('lost_turns', 'd.n');
  }

  /** True for numbers that are not among the losers. */
  won(losers: 'lost_tasks' | 'lost_turns', number: string): string {
    return this.hopeful ? 'true' : `${number} <> ALL((SELECT n FROM ${losers})::integer[])`;
  }

  /**
   * Adds a part. `text` is given the `unnest(…)` of its columns and then its scalars, and is asked only when this combination
   * of parts is new: the same parts always take the same parameters in the same order, so their text is prepared once per connection.
   */
  add(name: string, columns: Columns, text: (unnest: string, ...scalars: string[]) => string, scalars: Scalars = []): void {
    const first = this.values.length + 1;
    for (const [, values] of columns) this.values.push(arrayText(values));
    for (const [, value] of scalars) this.values.push(value);
    this.names.push(name);
    this.texts.push(() =>
      text(
        `unnest(${columns.map(([type], n) => `$${first + n}::${type}[]`).join(', ')})`,
        ...scalars.map(([type], n) => `$${first + columns.length + n}::${type}`),
      ),
    );
  }

  /** The statement: every part as a CTE, and `answer` behind them. */
  statement(answer: string): Statement {
    const key = `${this.hopeful ? 'hopeful' : 'careful'}:${this.names.join('+')}`;
    let statement = statements.get(key);
    if (!statement) {
      const text = `WITH ${this.texts.map((part) => part()).join(',\n')}\n${answer}`;
      statement = { name: `rhythm_commit_${statements.size}`, text };
      statements.set(key, statement);
    }
    return statement;
  }
}
