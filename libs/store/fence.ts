// Fences: a number on each execution that every change of hands replaces; a write that names an old one has no effect.

/**
 * A new fence, for all rows that one statement moves. Random, because fences are only compared for equality: if they were
 * counted, a replica that lost the last commits in a failover would count up to a number that a worker already has, and the
 * worker would take another state for the one in its memory.
 */
export function newFence(): number {
  return Math.floor(Math.random() * 2 ** 53);
}

/** The fence of what is not held itself: no execution ever has it. */
export const NO_FENCE = -1;
