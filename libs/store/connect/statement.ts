// A SQL statement with the name it is prepared under, and the interface of what executes it.

/** One SQL statement. It is written for the schema `rhythm`; a runner of another schema replaces that name. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /** One of many combinations of parts: a connection keeps only those prepared that it uses most. */
  readonly isShape?: boolean;
}

/**
 * Executes statements: an engine connection, the pool, or the caller's own transaction.
 * The caller chooses it, so the caller owns the transaction.
 */
export interface Runner {
  rows<Row = Record<string, unknown>>(statement: Statement, values?: readonly unknown[]): Promise<Row[]>;
}

/** Names a statement. Each has a name of its own, because a connection prepares each name once. */
export function sql(name: string, text: string): Statement {
  return { name: `rhythm_${name}`, text };
}

/** The text of a statement for a given schema. */
export function textFor(statement: Statement, schema: string): string {
  if (schema === 'rhythm') return statement.text;
  return statement.text.replace(/\brhythm\./g, `${quoteName(schema)}.`);
}

/** A quoted SQL name. Schema names come from configuration, never from a request; they are quoted anyway. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
