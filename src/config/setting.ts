// One setting: its type, bounds and default, and how it is read from code, from a file and from an environment variable.

import { type Duration, DurationError, parseDuration } from '../../libs/flow/index.js';
import { didYouMean } from '../nearest.js';

/** One row of the schema. `In` is what code or a file may give, `Out` what the engine gets. */
export interface Setting<In, Out> {
  /** For documentation: "integer 1…1000", "duration", … */
  readonly kind: string;
  readonly about: string;
  /** The value when it is not given, as it would be written in code. */
  readonly default: In | undefined;
  /** Never printed unmasked. */
  readonly secret: boolean;
  /** Checks a value; throws a plain sentence fragment ("is not …") as an Error. */
  read(value: unknown): Out;
  /** The string of an environment variable as the value that `read` wants. */
  fromText(text: string): unknown;
  /** How the value is read when a file or a variable gives it under its second name, which ends in `_secs`. */
  readonly inSeconds?: Setting<number, Out>;
}

/** The settings of a schema as the engine gets them. */
export type SettingsOf<Schema> = {
  [Key in keyof Schema]: Schema[Key] extends Setting<infer _In, infer Out> ? Out : SettingsOf<Schema[Key]>;
};

/** The settings of a schema as options in code: all optional. */
export type OptionsOf<Schema> = {
  [Key in keyof Schema]?: Schema[Key] extends Setting<infer In, infer _Out> ? In : OptionsOf<Schema[Key]>;
};

/** A string, optionally one that matches a pattern. */
export function string(about: string, fallback: string, pattern?: { test: RegExp; mustBe: string }): Setting<string, string> {
  return {
    kind: 'string',
    about,
    default: fallback,
    secret: false,
    read(value) {
      if (typeof value !== 'string' || value.trim() === '') throw new Error('is not a string');
      if (pattern && !pattern.test.test(value)) throw new Error(`is not ${pattern.mustBe}`);
      return value;
    },
    fromText: (given) => given,
  };
}

/** A string that may be absent. */
export function optionalString(about: string): Setting<string, string | undefined> {
  return { ...string(about, ''), default: undefined };
}

/** The address of a PostgreSQL database. Its password is a secret. */
export function databaseUrl(about: string, alsoAllowed: readonly string[] = []): Setting<string, string | undefined> {
  return {
    kind: 'PostgreSQL URL',
    about,
    default: undefined,
    secret: true,
    read(value) {
      if (typeof value !== 'string') throw new Error('is not a string');
      if (alsoAllowed.includes(value)) return value;
      if (!/^postgres(ql)?:\/\//.test(value)) {
        throw new Error(`does not start with "postgres://" or "postgresql://".${didYouMean(value, alsoAllowed)}`);
      }
      if (!URL.canParse(value)) throw new Error('is not a valid URL; write special characters of the password as %XX');
      // The parser ended the password at a "/", "?" or "#", and takes the user for the host.
      const { pathname, search, hash } = new URL(value);
      const parameters = search.slice(1).split('&');
      if (`${pathname}${hash}`.includes('@') || parameters.some((each) => /^[^=]*@/.test(each))) {
        throw new Error('has an "@" after the host; in a password, write "/" as %2F, "?" as %3F, "#" as %23 and "@" as %40');
      }
      return value;
    },
    fromText: (given) => given,
  };
}

/** A whole number within bounds. */
export function integer(about: string, fallback: number, min: number, max: number): Setting<number, number> {
  return {
    kind: `integer ${min}…${max}`,
    about,
    default: fallback,
    secret: false,
    read(value) {
      if (typeof value === 'bigint') value = Number(value);
      if (typeof value !== 'number' || !Number.isInteger(value)) throw new Error('is not a whole number');
      if (value < min || value > max) throw new Error(`is not between ${min} and ${max}`);
      return value;
    },
    fromText: (given) => (/^[+-]?\d+$/.test(given.trim()) ? Number(given) : given),
  };
}

/** True or false. */
export function flag(about: string, fallback: boolean): Setting<boolean, boolean> {
  return {
    kind: 'boolean',
    about,
    default: fallback,
    secret: false,
    read(value) {
      if (typeof value !== 'boolean') throw new Error('is not true or false');
      return value;
    },
    fromText(given) {
      const word = given.trim().toLowerCase();
      return ['true', '1', 'yes', 'on'].includes(word) ? true : ['false', '0', 'no', 'off'].includes(word) ? false : given;
    },
  };
}

/** One of a few strings. */
export function choice<const Choice extends string>(about: string, fallback: Choice, choices: readonly Choice[]): Setting<Choice, Choice> {
  return {
    kind: choices.map((each) => `"${each}"`).join(' | '),
    about,
    default: fallback,
    secret: false,
    read(value) {
      if (!choices.includes(value as Choice)) throw new Error(`is not one of ${choices.map((each) => `"${each}"`).join(', ')}`);
      return value as Choice;
    },
    fromText: (given) => given,
  };
}

/** A duration; the engine gets milliseconds. */
export function duration(about: string, fallback: Duration, min: Duration = 0, max?: Duration): Setting<Duration, number> {
  const least = parseDuration(min);
  const most = max === undefined ? Number.POSITIVE_INFINITY : parseDuration(max);
  return {
    kind: max !== undefined ? `duration ${min}…${max}` : least > 0 ? `duration, at least ${min}` : 'duration',
    about,
    default: fallback,
    secret: false,
    read(value) {
      const ms = readDuration(value);
      if (ms < least) throw new Error(`is less than ${min}`);
      if (ms > most) throw new Error(`is more than ${max}`);
      return ms;
    },
    // All variables are strings: there, digits are the number of milliseconds that they are in code.
    fromText: (given) => (/^\d+$/.test(given.trim()) ? Number(given) : given),
  };
}

/** A duration, or false for never. */
export function durationOrNever(about: string, fallback: Duration | false, min: Duration): Setting<Duration | false, number | false> {
  const given = duration(about, 0, min);
  return {
    ...given,
    kind: `${given.kind}, or false`,
    default: fallback,
    read: (value) => (value === false ? false : given.read(value)),
    fromText: (text) => (['false', 'off', 'never'].includes(text.trim().toLowerCase()) ? false : text),
  };
}

/** A duration that a file or a variable may also give in whole seconds, under a second name. */
export function durationOrSeconds(about: string, fallback: Duration, min: Duration, max: Duration): Setting<Duration, number> {
  const inSeconds = (value: Duration) => parseDuration(value) / 1_000;
  const seconds = integer(about, inSeconds(fallback), inSeconds(min), inSeconds(max));
  return { ...duration(about, fallback, min, max), inSeconds: { ...seconds, read: (value) => seconds.read(value) * 1_000 } };
}

/** An array of names; in an environment variable separated by commas. */
export function names(about: string, fallback: readonly string[]): Setting<readonly string[], readonly string[]> {
  return {
    kind: 'array of names',
    about,
    default: fallback,
    secret: false,
    read(value) {
      if (!Array.isArray(value) || value.some((name) => typeof name !== 'string' || name.trim() === '')) {
        throw new Error('is not an array of names');
      }
      if (value.length === 0) throw new Error('is an empty array');
      const [wrong] = value.map(wrongName).filter((each) => each !== undefined);
      if (wrong !== undefined) throw new Error(wrong);
      return value.map((name: string) => name.trim());
    },
    fromText: (given) => given.split(',').map((part) => part.trim()),
  };
}

// As the services check names, which use the settings and cannot be used here.
function wrongName(name: string): string | undefined {
  if (name.includes('\0')) return 'has a name with a NUL character, which PostgreSQL cannot store in text';
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(name))
    return 'has a name with half of a surrogate pair';
  return name.length > 200 ? `has a name of ${name.length} characters; the limit is 200` : undefined;
}

// The message of a DurationError begins with the value; here the caller writes it.
function readDuration(value: unknown): number {
  try {
    return parseDuration(value);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
    const shown = typeof value === 'string' ? JSON.stringify(value) : String(value);
    throw new Error(error.message.startsWith(`${shown} `) ? error.message.slice(shown.length + 1) : 'is not a duration');
  }
}
