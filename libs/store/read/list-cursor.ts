// Where a page of a list begins: the last execution of the page before, as text that callers pass back.

/** The last execution that was read. */
export interface Place {
  /** With the microseconds of the database, which a JavaScript date would cut off. */
  time: string;
  /** The number of its call, 0 without one. */
  call: number;
  id: string;
}

// As `exactText` writes it; years of five digits and dates before Christ are none of ours.
const TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/;
const LONGEST_ID = 4_096;
const LARGEST_CALL = 2_147_483_647;

export function encodeCursor({ time, call, id }: Place): string {
  return Buffer.from(JSON.stringify([time, call, id])).toString('base64url');
}

/** Throws a RangeError for what `encodeCursor` has not made. */
export function decodeCursor(cursor: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (isPlace(place)) return { time: place[0], call: place[1], id: place[2] };
  } catch {
    // Reported below, together with a string that parses but is not a cursor.
  }
  throw new RangeError('The cursor is not one that list() returned. Pass the `next` of the page before, unchanged.');
}

function isPlace(place: unknown): place is [string, number, string] {
  if (!Array.isArray(place) || place.length !== 3) return false;
  const [time, call, id] = place;
  const isCall = Number.isInteger(call) && Math.abs(call) <= LARGEST_CALL;
  return typeof time === 'string' && TIME.test(time) && isCall && typeof id === 'string' && id.length <= LONGEST_ID && !id.includes('\0');
}
