// Reads of the database that a turn depends on.

import { UnreachableError } from '../unreachable.js';

/** Rejects with UnreachableError for what may pass. A damaged program (its error has a code of the language) fails its run. */
export async function reach<T>(fetch: () => Promise<T>): Promise<T> {
  try {
    return await fetch();
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw typeof code === 'string' && code.startsWith('FLOW_')
      ? error
      : new UnreachableError('What the turn needs could not be fetched', error);
  }
}
