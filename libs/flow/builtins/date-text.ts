// Dates as strings: the formats that JavaScript writes and reads. A flow's local time zone is always UTC.

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const INVALID = 'Invalid Date';

/** The date half of `toString()`: "Thu Jan 01 1970". */
export function dateText(time: number): string {
  if (Number.isNaN(time)) return INVALID;
  const date = new Date(time);
  return `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]} ${two(date.getUTCDate())} ${yearText(date)}`;
}

/** The time half of `toString()`: "00:00:00 GMT+0000 (Coordinated Universal Time)". */
export function timeText(time: number): string {
  if (Number.isNaN(time)) return INVALID;
  return `${clockText(new Date(time))} GMT+0000 (Coordinated Universal Time)`;
}

export function fullText(time: number): string {
  return Number.isNaN(time) ? INVALID : `${dateText(time)} ${timeText(time)}`;
}

/** "Thu, 01 Jan 1970 00:00:00 GMT". */
export function utcText(time: number): string {
  if (Number.isNaN(time)) return INVALID;
  const date = new Date(time);
  return `${DAYS[date.getUTCDay()]}, ${two(date.getUTCDate())} ${MONTHS[date.getUTCMonth()]} ${yearText(date)} ${clockText(date)} GMT`;
}

function clockText(date: Date): string {
  return `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}:${two(date.getUTCSeconds())}`;
}

function yearText(date: Date): string {
  const year = date.getUTCFullYear();
  return (year < 0 ? '-' : '') + String(Math.abs(year)).padStart(4, '0');
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}

// ISO without an offset. Date alone is UTC by the standard; date and time would be read in the host's zone, so they get a Z.
const ISO_LOCAL = /^(?:\d{4}|[+-]\d{6})(?:-\d\d(?:-\d\d)?)?T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?$/;
const ZONE_WORD = /\b(?:utc?|gmt|z|[cemp][ds]t)\b/i;
// V8 reads a sign as an offset only after a time of day.
const ZONE_OFFSET = /\d:\d.*[+-]\s*\d/;
const PARENTHESES = /\([^()]*\)/g;
/** Longer strings are not dates; the host's parser need not read them. */
const LONGEST = 256;

/** Milliseconds since the epoch, or NaN: what `Date.parse` returns where the local zone is UTC, whatever the host's zone is. */
export function parseDate(text: string): number {
  if (text.length > LONGEST) return Number.NaN;
  if (ISO_LOCAL.test(text)) return Date.parse(`${text}Z`);
  const time = Date.parse(text);
  if (Number.isNaN(time) || isIso(text)) return time;
  const bare = text.replace(PARENTHESES, ' ');
  if (ZONE_WORD.test(bare) || ZONE_OFFSET.test(bare)) return time;
  return Date.parse(`${bare} UTC`);
}

function isIso(text: string): boolean {
  return /^(?:\d{4}|[+-]\d{6})(?:-\d\d(?:-\d\d)?)?(?:T\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text);
}
