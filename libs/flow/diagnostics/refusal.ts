// The shape of one row in the tables of refusals.

/** A reason to refuse a source. `{…}` in a string is filled in with the offending name or token. */
export interface Refusal {
  /** What happened and why it is refused. */
  message: string;
  /** What to write instead. */
  advice: string;
  /** The smallest program that is refused for this reason; empty when there is no small one. */
  example: string;
  /** The same intent, written so that Flow accepts it. */
  instead?: string;
}

/** What is accepted and probably not meant; its correction is accepted without a warning. */
export type Warning = Refusal & { instead: string };
