// A bound for what may never come: an answer of a server that has fallen silent.

/** Waits for the work, at most this long. Returns whether it was done in time; what it does later, a rejection too, is not heard. */
export async function within(work: Promise<unknown> | undefined, ms: number): Promise<boolean> {
  if (!work) return true;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), Math.max(0, ms));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}
