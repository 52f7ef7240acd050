// Waits for a condition instead of sleeping for a fixed time.
import { inspect } from 'node:util';

export interface WaitOptions {
  timeoutMs?: number;
  everyMs?: number;
}

/**
 * Calls the condition until it returns something truthy, and returns that. A condition that throws is called again too. At the
 * deadline, the error says what was waited for and what the condition returned last.
 */
export async function waitFor<T>(
  what: string,
  condition: () => T | Promise<T>,
  { timeoutMs = 15_000, everyMs = 15 }: WaitOptions = {},
): Promise<NonNullable<T>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let outcome: string;
    try {
      const value = await condition();
      if (value) return value as NonNullable<T>;
      outcome = `returned ${inspect(value)}`;
    } catch (error) {
      outcome = `threw ${inspect(error)}`;
    }
    if (performance.now() >= deadline) throw new Error(`Waited ${timeoutMs} ms for ${what}. The condition last ${outcome}.`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Repeats the assertions until they hold; at the deadline, throws the last failure unchanged. */
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
