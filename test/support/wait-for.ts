// Waits for something to become true instead of sleeping and hoping.
import { inspect } from 'node:util';

export interface WaitOptions {
  timeoutMs?: number;
  everyMs?: number;
}

/**
 * Asks again and again until the condition answers with something truthy, and answers with that. A condition that throws
 * is asked again too. At the deadline the error says what was waited for and what was seen last.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 15_000, everyMs = 15 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let seen: string;
    try {
      const value = await condition();
      if (value) return value as NonNullable<T>;
      seen = `the condition answered ${inspect(value)}`;
    } catch (error) {
      seen = `the condition threw ${inspect(error)}`;
    }
    if (performance.now() >= deadline) throw new Error(`Waited ${timeoutMs} ms for ${what}; at last ${seen}.`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Repeats the assertions until they hold; at the deadline the last failure is thrown as it was. */
export async function eventually(
  assertions: () => void | Promise<void>,
  { timeoutMs = 15_000, everyMs = 15 }: WaitOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      await assertions();
      return;
    } catch (error) {
      if (performance.now() >= deadline) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
