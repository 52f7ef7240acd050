// A time limit for waiting on a server that may never reply.

/** The timers that a limit is measured with. */
export interface Timers {
  setTimer(ms: number, callback: () => void): { cancel(): void };
}

const REAL_TIMERS: Timers = {
  setTimer(ms, callback) {
    const timer = setTimeout(callback, ms);
    return { cancel: () => clearTimeout(timer) };
  },
};

/** Waits for the work, at most this long. Returns whether it finished in time; a later outcome, even a rejection, is ignored. */
export async function within(work: Promise<unknown> | undefined, ms: number, timers = REAL_TIMERS): Promise<boolean> {
  if (!work) return true;
  let timer: ReturnType<Timers['setTimer']> | undefined;
  const late = new Promise<false>((resolve) => {
    timer = timers.setTimer(Math.max(0, ms), () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    timer?.cancel();
  }
}
