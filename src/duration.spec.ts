// Durations and dates: what is read, and what is refused with advice.

import { describe, expect, it } from '@jest/globals';
import { parseDuration, parseInstant } from './duration.js';

describe('a duration', () => {
  it.each([
    [0, 0],
    [1500, 1_500],
    ['500ms', 500],
    ['30s', 30_000],
    ['1.5h', 5_400_000],
    ['1h 30m', 5_400_000],
    ['1h30m', 5_400_000],
    ['2 days', 172_800_000],
    ['1w', 604_800_000],
  ])('%p is %p ms', (given, ms) => {
    expect(parseDuration(given, 'timeout')).toBe(ms);
  });

  it.each(['', 'soon', '-1s', '1 fortnight', '10x', 'h', '250', Number.NaN, Number.POSITIVE_INFINITY, -1, null, {}, '200y', '80000d'])(
    'refuses %p',
    (given) => {
      expect(() => parseDuration(given, 'options.timeout')).toThrow(
        expect.objectContaining({ code: 'RHYTHM_OPTION_INVALID', path: 'options.timeout' }),
      );
    },
  );
});

describe('a point in time', () => {
  it.each([
    [new Date(5), 5],
    [5, 5],
    ['1970-01-01T00:00:01Z', 1_000],
    ['1970-01-01T01:00:01+01:00', 1_000],
    ['1970-01-02', 86_400_000],
  ])('%p is read', (given, ms) => {
    expect(parseInstant(given, 'runAt').getTime()).toBe(ms);
  });

  it('refuses a time without a zone, because it means something else on every machine', () => {
    expect(() => parseInstant('2030-01-31T09:00:00', 'runAt')).toThrow(/has no time zone/);
  });

  it.each(['tomorrow', '31.01.2030', new Date(Number.NaN), Number.NaN, null, '99999-01-01', {}])('refuses %p', (given) => {
    expect(() => parseInstant(given, 'runAt')).toThrow(/is not a valid date/);
  });
});
