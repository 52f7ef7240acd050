// Durations: what is read, and what is refused with advice.
import { describe, expect, it } from '@jest/globals';
import { DurationError, parseDuration, showDuration } from './duration.js';

describe('a duration', () => {
  it.each([
    [0, 0],
    [1500, 1_500],
    [1.4, 1],
    ['0', 0],
    ['500ms', 500],
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['3d', 259_200_000],
    ['1w', 604_800_000],
    ['1.5h', 5_400_000],
    ['1m 30s', 90_000],
    ['1h30m', 5_400_000],
    ['  2 Days ', 172_800_000],
  ])('%p is %p ms', (given, ms) => {
    expect(parseDuration(given)).toBe(ms);
  });

  it.each([
    '',
    ' ',
    'soon',
    '-1s',
    '1 fortnight',
    '10x',
    'h',
    '1h,30m',
    '1e3',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    null,
    undefined,
    {},
    true,
  ])('refuses %p and says what to write', (given) => {
    expect(() => parseDuration(given)).toThrow(DurationError);
    expect(() => parseDuration(given)).toThrow(/is not a duration\. Write milliseconds/);
  });

  it.each(['5', '1500', ' 0.5 '])('refuses %p, because it does not say of what', (given) => {
    expect(() => parseDuration(given)).toThrow(/is not a duration: it has no unit\. Write milliseconds \(1500\) or a string/);
  });

  it('refuses a negative one and one of more than a century', () => {
    expect(() => parseDuration(-1)).toThrow(/negative/);
    expect(() => parseDuration('6000w')).toThrow(/longer than 100 years/);
  });

  it.each([0, 1, 1_500, 60_000, 129_600_000, 36_525 * 86_400_000])('of %p ms is shown in a form that can be read again', (ms) => {
    expect(parseDuration(showDuration(ms))).toBe(ms);
  });

  it('does not repeat a string of a million characters', () => {
    expect(() => parseDuration('9'.repeat(1_000_000))).toThrow(/^A string of 1000000 characters is not a duration/);
  });
});
