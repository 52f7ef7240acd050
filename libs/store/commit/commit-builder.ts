// Builds a commit from the parts it needs: one statement, with one name per combination of parts.

import { type ArrayType, arrayBytes } from '../connect/array-bytes.js';
import type { Statement } from '../connect/statement.js';

type Item = string | number | boolean | null;

/** The parameters of a part: each an array, with the SQL type of its items, and what its items usually are. */
export type Columns = readonly (readonly [type: ArrayType, values: readonly Item[], usual?: Item])[];
/** Parameters of a part that are the same for all its rows. */
export type Scalars = readonly (readonly [type: string, value: Item | Buffer])[];

const statements = new Map<string, Statement>();

interface Part {
  name: string;
  columns: Columns;
  /** Without the columns that hold only what their items usually are. */
  lean: boolean;
  scalars: Scalars;
  text(unnest: string, ...scalars: string[]): string;
}

/** Collects the parts of one commit statement and their parameters. */
export class CommitBuilder {
  private readonly parts: Part[] = [];

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
   * Adds a part. `text` gets the rows of its columns (an `unnest`) and then its scalars, and is called only when this combination of
   * parts is new: the same parts always take the same parameters in the same order, so their text is prepared once per connection.
   */
  add(name: string, columns: Columns, text: Part['text'], scalars: Scalars = []): void {
    this.parts.push({ name, columns, lean: areUsual(columns), scalars, text });
  }

  /** The statement: every part as a CTE, followed by `result`; and its parameters. */
  // The commit of one step has one row in each part. As scalars it takes the server a sixth less than as arrays of one item.
  statement(result: string): { statement: Statement; values: unknown[] } {
    const { parts } = this;
    const single = this.optimistic && parts.every(isSingle);
    const names = parts.map(({ name, lean }) => (lean ? name : `full-${name}`));
    const key = `${this.optimistic ? 'optimistic' : 'checked'}${single ? '-single' : ''}:${names.join('+')}`;
    let statement = statements.get(key);
    if (!statement) {
      statement = {
        name: `rhythm_commit_${statements.size}`,
        isShape: true,
        text: `WITH ${textsOf(parts, single).join(',\n')}\n${result}`,
      };
      statements.set(key, statement);
    }
    return { statement, values: valuesOf(parts, single) };
  }
}

// Of a column that an optimistic commit does not need the array is empty.
function isSingle({ columns }: Part): boolean {
  return columns.length === 0 || (columns.every(([, items]) => items.length < 2) && columns.some(([, items]) => items.length === 1));
}

const sentOf = ({ columns, lean }: Part) => (lean ? columns.filter(([, , usual]) => usual === undefined) : columns);

function valuesOf(parts: readonly Part[], single: boolean): unknown[] {
  const values: unknown[] = [];
  for (const part of parts) {
    for (const [type, items] of sentOf(part)) values.push(single ? (items[0] ?? null) : arrayBytes(type, items));
    for (const [, value] of part.scalars) values.push(value);
  }
  return values;
}

function textsOf(parts: readonly Part[], single: boolean): string[] {
  let first = 1;
  return parts.map((part) => {
    const { columns, lean, scalars, text } = part;
    const sent = sentOf(part).length;
    const rows = single ? 'row' : 'arrays';
    const unnest = lean ? leanRows(columns, first, rows) : ROWS[rows](columns, first);
    const given = scalars.map(([type], n) => `$${first + sent + n}::${type}`);
    first += sent + scalars.length;
    return text(unnest, ...given);
  });
}

/** Whether these columns hold only what their items usually are. */
export function areUsual(columns: Columns): boolean {
  return columns.every(([, values, usual]) => usual === undefined || values.every((value) => value === usual));
}

// Columns with only usual items are not sent, if that is so for all such columns: each combination is a plan of its own.
function leanRows(columns: Columns, first: number, rows: keyof typeof ROWS): string {
  const sent = columns.filter(([, , usual]) => usual === undefined);
  if (sent.length === columns.length) return ROWS[rows](columns, first);
  const items = columns.map((column) => (column[2] === undefined ? `u.c${sent.indexOf(column)}` : literal(column[0], column[2])));
  return `(SELECT ${items.join(', ')} FROM ${ROWS[rows](sent, first)} AS u(${sent.map((_, n) => `c${n}`).join(', ')}))`;
}

/** The rows of columns: as many as the arrays have items, or one. */
const ROWS = {
  arrays: (columns: Columns, first: number) => `unnest(${columns.map(([type], n) => `$${first + n}::${type}[]`).join(', ')})`,
  row: (columns: Columns, first: number) => `(SELECT ${columns.map(([type], n) => `$${first + n}::${type}`).join(', ')})`,
};

// Only for constants in this code: values from outside are parameters.
function literal(type: string, value: Item): string {
  return `${value === null ? 'NULL' : typeof value === 'string' ? `'${value}'` : value}::${type}`;
}
