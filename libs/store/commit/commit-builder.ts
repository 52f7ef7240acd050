// Builds a commit from the parts it needs: one statement, with one name per combination of parts.

import { type ArrayType, arrayBytes } from '../connect/array-bytes.js';
import type { Statement } from '../connect/statement.js';

type Item = string | number | boolean | null;

/** The parameters of a part: each an array, with the SQL type of its items, and what its items usually are. */
export type Columns = readonly (readonly [type: ArrayType, values: readonly Item[], usual?: Item])[];
/** Parameters of a part that are the same for all its rows. */
export type Scalars = readonly (readonly [type: string, value: Item | Buffer])[];

const statements = new Map<string, Statement>();

/** Collects the parts of one commit statement and their parameters. */
export class CommitBuilder {
  private readonly names: string[] = [];
  private readonly texts: (() => string)[] = [];
  readonly values: unknown[] = [];

  /** `optimistic`: all items are assumed to win their fence, and the statement fails as a whole if one of them does not. Otherwise the commit is checked. */
  constructor(readonly optimistic: boolean) {}

  /** Keeps the rows of an unnest `d` whose turn won its fence. */
  get ofWinner(): string {
    return this.won('lost_turns', 'd.n');
  }

  /** True for numbers that are not among the losers. */
  won(losers: 'lost_tasks' | 'lost_turns', number: string): string {
    return this.optimistic ? 'true' : `${number} <> ALL((SELECT n FROM ${losers})::integer[])`;
  }

  /** The numbers of items, by which losers are identified; an optimistic commit does not need them. */
  numbers(numbers: readonly number[]): Columns[number] {
    return this.optimistic ? ['integer', [], null] : ['integer', numbers];
  }

  /**
   * Adds a part. `text` gets the `unnest(…)` of its columns and then its scalars, and is called only when this combination of
   * parts is new: the same parts always take the same parameters in the same order, so their text is prepared once per connection.
   */
  add(name: string, columns: Columns, text: (unnest: string, ...scalars: string[]) => string, scalars: Scalars = []): void {
    const first = this.values.length + 1;
    const lean = areUsual(columns);
    const sent = lean ? columns.filter(([, , usual]) => usual === undefined) : columns;
    for (const [type, values] of sent) this.values.push(arrayBytes(type, values));
    for (const [, value] of scalars) this.values.push(value);
    this.names.push(lean ? name : `full-${name}`);
    this.texts.push(() =>
      text(
        lean ? leanUnnest(columns, first) : `unnest(${arrays(columns, first)})`,
        ...scalars.map(([type], n) => `$${first + sent.length + n}::${type}`),
      ),
    );
  }

  /** The statement: every part as a CTE, followed by `result`. */
  statement(result: string): Statement {
    const key = `${this.optimistic ? 'optimistic' : 'checked'}:${this.names.join('+')}`;
    let statement = statements.get(key);
    if (!statement) {
      const text = `WITH ${this.texts.map((part) => part()).join(',\n')}\n${result}`;
      statement = { name: `rhythm_commit_${statements.size}`, text };
      statements.set(key, statement);
    }
    return statement;
  }
}

/** Whether these columns hold only what their items usually are. */
export function areUsual(columns: Columns): boolean {
  return columns.every(([, values, usual]) => usual === undefined || values.every((value) => value === usual));
}

// Columns with only usual items are not sent, if that is so for all such columns: each combination is a plan of its own.
function leanUnnest(columns: Columns, first: number): string {
  const sent = columns.filter(([, , usual]) => usual === undefined);
  if (sent.length === columns.length) return `unnest(${arrays(columns, first)})`;
  const items = columns.map((column) => (column[2] === undefined ? `u.c${sent.indexOf(column)}` : literal(column[0], column[2])));
  return `(SELECT ${items.join(', ')} FROM unnest(${arrays(sent, first)}) AS u(${sent.map((_, n) => `c${n}`).join(', ')}))`;
}

function arrays(columns: Columns, first: number): string {
  return columns.map(([type], n) => `$${first + n}::${type}[]`).join(', ');
}

// Only for constants in this code: values from outside are parameters.
function literal(type: string, value: Item): string {
  return `${value === null ? 'NULL' : typeof value === 'string' ? `'${value}'` : value}::${type}`;
}
