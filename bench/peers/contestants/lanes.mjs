// Bulk enqueueing in parallel lanes, each sending one chunk at a time: as many lanes and as large chunks for every contestant.

const LANES = 2;
const CHUNK = 1_000;

/** Calls `send` with the size of each chunk until `count` jobs are sent. */
export async function inLanes(count, send) {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      const size = Math.min(CHUNK, left);
      left -= size;
      await send(size);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
}
