// Bulk enqueueing in parallel lanes, each sending one chunk at a time.

/** Calls `send` with the size of each chunk until `count` jobs are sent. */
export async function inLanes(count, { lanes, chunk }, send) {
  let left = count;
  const lane = async () => {
    while (left > 0) {
      const size = Math.min(chunk, left);
      left -= size;
      await send(size);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
