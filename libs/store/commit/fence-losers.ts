// Which rows of a group lost their fence. Nearly always none, so the rest of the statement asks for the losers: looking for a
// winner among n winners is quadratic (PostgreSQL walks the array), looking for it among no losers costs nothing.

/** A CTE with the numbers that are missing from `winners`, of `count` that were tried. */
export function lost(name: string, winners: string, count: string): string {
  return `${name} AS MATERIALIZED (
      SELECT ARRAY(SELECT generate_series(0, ${count} - 1) EXCEPT SELECT n FROM ${winners}) AS n
    )`;
}

/** True for the rows whose number is not among them. */
export function wonIn(losers: string, number: string): string {
  return `${number} <> ALL((SELECT n FROM ${losers})::integer[])`;
}
