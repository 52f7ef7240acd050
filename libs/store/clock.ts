// Time in SQL: the function that statements and column defaults read, and the forms in which times are sent to Node.

/**
 * The time at the start of the statement. A function of the schema, so that a test can put another in its place and move the
 * time of all executions. What must follow real time reads `now()` instead: heartbeats, and the age of transactions.
 */
export const CLOCK = 'rhythm.clock()';

/** The same at this moment: it moves while the statement runs. */
export const CLOCK_NOW = '(rhythm.clock() + (clock_timestamp() - statement_timestamp()))';

/** The time in so many milliseconds. */
export function inMs(milliseconds: string): string {
  return `rhythm.clock() + ${milliseconds} * interval '1 millisecond'`;
}

/** A time in milliseconds since the epoch, or an interval in milliseconds. */
export function millis(time: string): string {
  return `(extract(epoch FROM ${time}) * 1000)::float8`;
}

/** A time with its microseconds, which a JavaScript date would cut off. */
export function exactText(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.USZ')`;
}
