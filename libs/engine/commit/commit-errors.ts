// What an error of a commit means: it will pass, one work of the group causes it, or the database refuses its values.

import { isDatabaseError } from '../../store/index.js';

/** The values are wrong: the database refuses them, or a number does not fit its column. */
export function isRefusal(error: unknown): boolean {
  return error instanceof RangeError || (isDatabaseError(error) && !isPassing(error.code));
}

/** The server replied, and the reason may lie in one work of a group. A statement that is not prepared (26) is prepared by the next try. */
export function mayBeOneWork(error: unknown): boolean {
  return isDatabaseError(error) && isPassing(error.code) && !error.code?.startsWith('26');
}

// The database is full, shutting down or short of something; or its schema or our rights are not what they should be; or the
// statement that the commit before was to prepare is missing because that one failed (26). The values are fine, so no work fails
// or is dropped for it. It is tried until that has passed.
function isPassing(code: string | undefined): boolean {
  return code !== undefined && /^(25006|26|28|3D|3F|42|53|55|57|58)/.test(code);
}
