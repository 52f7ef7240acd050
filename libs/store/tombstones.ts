// The condition under which a chosen id may be inserted: no run of that id was removed.

/** Of rows `d` with `id` and `bucket`. */
// Not NOT EXISTS, which may become a hash join: rows must be inserted in their order, which is the one in which rows are locked.
export const HAS_NO_TOMBSTONE = `(SELECT o.id FROM rhythm.tombstones o WHERE o.id = d.id AND o.bucket = d.bucket) IS NULL`;
