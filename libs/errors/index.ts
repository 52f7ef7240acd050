// The root of all errors of this product, for every room that throws at users.

/** The root of the family: `catch (e) { if (e instanceof RhythmError) … e.code … }`. */
export class RhythmError extends Error {
  constructor(
    /** Stable across versions; branch on this, not on the message. */
    readonly code: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}
