// Settings: precedence of every key, unknown keys, invalid values, a missing database, and how secrets are shown.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { stringify } from 'smol-toml';
import { setProcessFlags } from './flags.js';
import { loadSettings } from './load-settings.js';
import { allSettings, type NamedSetting } from './setting-paths.js';

const URL_A = 'postgres://ann:s3cret@a.example:5432/app';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rhythm-settings-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

function load(env: Record<string, string> = {}, options: object = {}, configPath?: string) {
  return loadSettings({ env: { HOME: folder, ...env }, folder, options, configPath });
}

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

function valueAt(settings: object, path: string): unknown {
  return path.split('.').reduce((node, key) => (node as Record<string, unknown>)[key], settings as unknown);
}

// Four different valid values of a setting, for the four layers, as a person would write them.
function samples({ path, setting }: NamedSetting): unknown[] {
  const { kind } = setting;
  const base = setting.default;
  if (path === 'role') return ['api', 'worker', 'api', 'worker'];
  if (path === 'log.failures') return ['final', 'none', 'all', 'final'];
  if (kind === 'boolean') return [!base, base, !base, base];
  if (kind.startsWith('integer')) return [1, 2, 3, 4].map((n) => (base as number) + n);
  if (path === 'worker.heartbeatInterval') return ['1s', '2s', '3s', '4s'];
  if (path === 'task.maxRetryDelay') return ['11m', '12m', '13m', '14m'];
  if (path === 'retention.keys') return ['31d', '32d', '33d', '34d'];
  if (kind.startsWith('duration'))
    return ['31s', '32s', '33s', '34s'].map((text) => (path === 'task.retryDelay' ? text : text.replace('s', 'm')));
  if (kind === 'array of names') return [['a'], ['b', 'c'], ['d'], ['e']];
  if (kind === 'PostgreSQL URL') return [1, 2, 3, 4].map((n) => `postgres://host${n}/db`);
  return ['one', 'two', 'three', 'four'];
}

function nested(path: string[], value: unknown): Record<string, unknown> {
  const [key, ...rest] = path;
  return { [key as string]: rest.length ? nested(rest, value) : value };
}

describe('settings', () => {
  describe.each(allSettings().map((named) => [named.path, named] as const))('%s', (path, named) => {
    it('is taken from flags, then options, then the environment, then .env, then the file, then the default', () => {
      const [inOptions, inEnv, inDotenv, inFile] = samples(named);
      const asText = (value: unknown) => (Array.isArray(value) ? value.join(',') : String(value));
      const read = (value: unknown) => named.setting.read(value);
      const other: Record<string, string> = path === 'database.url' ? {} : { DATABASE_URL: URL_A };

      const fallback = named.setting.default === undefined ? undefined : read(named.setting.default);
      if (path !== 'database.url') expect(valueAt(load(other).settings, path)).toEqual(fallback);

      write('rhythm.toml', stringify(nested(named.fileKey.split('.'), inFile)));
      expect(valueAt(load(other).settings, path)).toEqual(read(inFile));

      write('.env', `${named.variable}=${asText(inDotenv)}\n`);
      expect(valueAt(load(other).settings, path)).toEqual(read(inDotenv));

      const env = { ...other, [named.variable]: asText(inEnv) };
      expect(valueAt(load(env).settings, path)).toEqual(read(inEnv));

      const { settings, report } = load(env, nested(path.split('.'), inOptions));
      expect(valueAt(settings, path)).toEqual(read(inOptions));
      expect(report.find((row) => row.path === path)?.source).toBe(`${path} in options`);

      setProcessFlags({ options: nested(path.split('.'), inEnv) });
      try {
        const flagged = load(env, nested(path.split('.'), inOptions));
        expect(valueAt(flagged.settings, path)).toEqual(read(inEnv));
        expect(flagged.report.find((row) => row.path === path)?.source).toBe(`${path} in flags`);
      } finally {
        setProcessFlags(undefined);
      }
    });
  });

  describe.each([
    ['acquireTimeout', '15s', 15],
    ['idleTimeout', '5m', 300],
    ['maxLifetime', '1h', 3_600],
  ] as const)('database.%s', (key, text, seconds) => {
    const variable = `RHYTHM_DATABASE_${key.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
    const fileKey = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const at = (env: Record<string, string> = {}, options: object = {}) =>
      load({ DATABASE_URL: URL_A, ...env }, { database: options }).settings.database[key];

    it('is a duration in code, in a variable and in a file, and may be whole seconds under a second name in the last two', () => {
      expect(at({}, { [key]: text })).toBe(seconds * 1_000);
      expect(at({ [variable]: text })).toBe(seconds * 1_000);
      expect(at({ [`${variable}_SECS`]: String(seconds) })).toBe(seconds * 1_000);
      write('rhythm.toml', `[database]\n${fileKey} = "${text}"`);
      expect(at()).toBe(seconds * 1_000);
      write('rhythm.toml', `[database]\n${fileKey}_secs = ${seconds}`);
      expect(at()).toBe(seconds * 1_000);
      expect(at({ [variable]: '20m' })).toBe(1_200_000);
      expect(() => at({}, { [`${key}Secs`]: seconds })).toThrow(/Unknown setting "database\.\w+Secs" in options/);
    });

    it('is refused under both names in the same place', () => {
      expect(() => at({ [variable]: text, [`${variable}_SECS`]: String(seconds) })).toThrow(
        `${variable} (environment) and ${variable}_SECS (environment) are two names of the setting database.${key}. Give only one of them.`,
      );
      write('rhythm.toml', `[database]\n${fileKey} = "${text}"\n${fileKey}_secs = ${seconds}`);
      expect(() => at()).toThrow(/are two names of the setting/);
    });

    it('must be whole seconds under the second name', () => {
      expect(() => at({ [`${variable}_SECS`]: '1.5' })).toThrow(/_SECS \(environment\)\) is not a whole number\. Expected: integer/);
      expect(() => at({ [`${variable}_SECS`]: '10m' })).toThrow(/is not a whole number/);
      expect(() => at({ [`${variable}_SECS`]: '999999' })).toThrow(/is not between/);
    });
  });

  it('take the second name in the environment before the first name in .env', () => {
    write('.env', 'RHYTHM_DATABASE_IDLE_TIMEOUT=1m');
    const { settings, report } = load({ DATABASE_URL: URL_A, RHYTHM_DATABASE_IDLE_TIMEOUT_SECS: '120' });
    expect(settings.database.idleTimeout).toBe(120_000);
    expect(report.find(({ path }) => path === 'database.idleTimeout')?.source).toBe('RHYTHM_DATABASE_IDLE_TIMEOUT_SECS (environment)');
  });

  it('take DATABASE_URL only when RHYTHM_DATABASE_URL is not set anywhere, and before the file', () => {
    write('rhythm.toml', '[database]\nurl = "postgres://file/db"');
    expect(load({ DATABASE_URL: URL_A }).settings.database.url).toBe(URL_A);
    write('.env', 'RHYTHM_DATABASE_URL=postgres://dotenv/db');
    expect(load({ DATABASE_URL: URL_A }).settings.database.url).toBe('postgres://dotenv/db');
  });

  it('ignore a DATABASE_URL of another kind of database', () => {
    expect(() => load({ DATABASE_URL: 'mysql://host/db' })).toThrow(/No database is configured/);
  });

  it('are read from the file of RHYTHM_CONFIG_PATH, then rhythm.toml, then the one in the config folder of the user', () => {
    write('.config/rhythm/config.toml', '[database]\nurl = "postgres://home/db"');
    expect(load().settings.database.url).toBe('postgres://home/db');
    write('rhythm.toml', '[database]\nurl = "postgres://project/db"');
    expect(load().settings.database.url).toBe('postgres://project/db');
    const special = write('special.toml', '[database]\nurl = "postgres://special/db"');
    expect(load({ RHYTHM_CONFIG_PATH: special }).settings.database.url).toBe('postgres://special/db');
    const flag = write('flag.toml', '[database]\nurl = "postgres://flag/db"');
    expect(load({ RHYTHM_CONFIG_PATH: special }, {}, flag).settings.database.url).toBe('postgres://flag/db');
  });

  it('refuse a named file that does not exist', () => {
    expect(() => load({ RHYTHM_CONFIG_PATH: 'gone.toml', DATABASE_URL: URL_A })).toThrow(
      /gone\.toml, named by RHYTHM_CONFIG_PATH, does not exist/,
    );
  });

  it('report where a file cannot be read', () => {
    write('rhythm.toml', '[database]\nurl = "postgres://x/y\n');
    expect(() => load()).toThrow(/rhythm\.toml:2:/);
  });

  it('explain how to set the database URL when there is none', () => {
    expect(() => load()).toThrow(
      expect.objectContaining({ code: 'RHYTHM_DATABASE_URL_MISSING', message: expect.stringContaining('RHYTHM_DATABASE_URL=') }),
    );
  });

  it.each([
    ['an option', () => load({}, { database: { maxConection: 3 } }), /"database.maxConection" in options. Did you mean "maxConnections"/],
    ['a section', () => load({}, { databse: {} }), /"databse" in options. Did you mean "database"/],
    [
      'a variable',
      () => load({ RHYTHM_DATABASE_MAX_CONECTIONS: '3' }),
      /RHYTHM_DATABASE_MAX_CONECTIONS \(environment\). Did you mean "RHYTHM_DATABASE_MAX_CONNECTIONS"/,
    ],
    [
      'a camelCase key in a file',
      () => {
        write('rhythm.toml', '[database]\nmaxConnections = 3');
        load();
      },
      /"database.maxConnections" in .*rhythm.toml. Did you mean "max_connections"/,
    ],
  ])('refuse %s that does not exist and name the nearest', (_, act, message) => {
    expect(act).toThrow(message);
  });

  it.each([
    [
      { RHYTHM_DATABASE_MAX_CONNECTIONS: 'many' },
      /database.maxConnections = many \(RHYTHM_DATABASE_MAX_CONNECTIONS \(environment\)\) is not a whole number/,
    ],
    [{ RHYTHM_DATABASE_MAX_CONNECTIONS: '0' }, /is not between 10 and 10000/],
    [{ RHYTHM_WORKER_POLL_INTERVAL: 'soon' }, /worker.pollInterval = soon .* is not a duration/],
    [
      { RHYTHM_WORKER_POLL_INTERVAL: '1 fortnight' },
      /worker.pollInterval = 1 fortnight \(.*\) is not a duration\. Write .* or "1h 30m"\. Expected/,
    ],
    [{ RHYTHM_WORKER_POLL_INTERVAL: '-1s' }, /is not a duration/],
    [{ RHYTHM_DATABASE_ACQUIRE_TIMEOUT: '10' }, /database\.acquireTimeout = 10 .* is less than 1s\. Expected: duration 1s…1h/],
    [{ RHYTHM_DATABASE_MAX_LIFETIME: '2w' }, /is more than 7d/],
    [{ RHYTHM_ROLE: 'boss' }, /is not one of "both", "api", "worker"/],
    [{ RHYTHM_AUTO_MIGRATE: 'perhaps' }, /is not true or false/],
    [{ RHYTHM_DATABASE_SCHEMA: 'a"b' }, /is not an SQL name/],
    [{ RHYTHM_WORKER_HEARTBEAT_INTERVAL: '20s' }, /worker.heartbeatInterval .* must be at most half of worker.deadAfter \(default\)/],
    [{ RHYTHM_DATABASE_MIN_CONNECTIONS: '30' }, /database.minConnections .* must not be more than database.maxConnections/],
  ])('refuse %j', (env, message) => {
    expect(() => load({ DATABASE_URL: URL_A, ...env })).toThrow(message);
  });

  it('start beside variables that Kubernetes makes of a Service called rhythm, and name them in a warning', () => {
    const links = {
      RHYTHM_SERVICE_HOST: '10.0.0.1',
      RHYTHM_SERVICE_PORT: '80',
      RHYTHM_SERVICE_PORT_HTTP: '80',
      RHYTHM_PORT: 'tcp://10.0.0.1:80',
      RHYTHM_PORT_80_TCP: 'tcp://10.0.0.1:80',
      RHYTHM_PORT_80_TCP_PROTO: 'tcp',
      RHYTHM_PORT_80_TCP_PORT: '80',
      RHYTHM_PORT_80_TCP_ADDR: '10.0.0.1',
      RHYTHM_DATABASE_PORT: 'tcp://10.0.0.2:5432',
      RHYTHM_DATABASE_SERVICE_HOST: '10.0.0.2',
      RHYTHM_WORKER_SERVICE_HOST: '10.0.0.3',
    };
    const { warnings } = load({ DATABASE_URL: URL_A, ...links });
    expect(warnings).toEqual([expect.stringMatching(/RHYTHM_SERVICE_HOST.* are not settings of Rhythm and ignored\..*enableServiceLinks/)]);
    for (const variable of Object.keys(links)) expect(warnings[0]).toContain(variable);
    expect(load({ DATABASE_URL: URL_A }).warnings).toEqual([]);
  });

  it('never have a name that Kubernetes could make of a Service', () => {
    const names = allSettings().flatMap(({ variable, seconds }) => [variable, ...(seconds ? [seconds.variable] : [])]);
    expect(names.filter((name) => /_PORT$|_SERVICE_/.test(name))).toEqual([]);
  });

  it('name a variable that is ignored where no database is configured', () => {
    expect(() => load({ RHYTHM_PG: 'postgres://ann:s3cret@host/db' })).toThrow(
      /No database is configured[\s\S]*RHYTHM_PG is not a setting/,
    );
    expect(() => load({ RHYTHM_PG: 'postgres://ann:s3cret@host/db' })).not.toThrow(/s3cret/);
  });

  it('treat an empty variable as not set', () => {
    expect(load({ DATABASE_URL: URL_A, RHYTHM_ROLE: '' }).settings.role).toBe('both');
  });

  it('never show a password, not even of an invalid URL', () => {
    const { report } = load({ RHYTHM_DATABASE_URL: URL_A });
    expect(JSON.stringify(report)).not.toContain('s3cret');
    expect(report.find((row) => row.path === 'database.url')?.value).toBe('postgres://ann:***@a.example:5432/app');
    const wrong = () => load({ RHYTHM_DATABASE_URL: 'postgres://ann:s3c ret%@a example/app' });
    expect(wrong).toThrow(/is not a valid URL/);
    expect(wrong).not.toThrow(/s3c/);
  });

  it.each([
    ['ann:s3cret@host', /database\.url = ann:\*\*\*@host .* does not start with/],
    ['postgres://ann:5/s3cret@host/db', /has an "@" after the host; in a password, write "\/" as %2F/],
    ['postgres://ann:5?s3cret@host/db', /has an "@" after the host/],
    ['postgres://ann:5#s3cret@host/db', /has an "@" after the host/],
    ['postgres://ann:x/s3cret@host/db', /is not a valid URL; write special characters of the password as %XX/],
  ])('refuse %s without its password, and say how to write it', (url, message) => {
    for (const act of [() => load({ RHYTHM_DATABASE_URL: url }), () => load({}, { database: { url } })]) {
      expect(act).toThrow(message);
      expect(act).not.toThrow(/s3cret/);
    }
  });

  it.each(['postgres://ann:p%40ss@host/db', 'postgres://host/db?application_name=a@b'])('take %s as it is', (url) => {
    expect(load({}, { database: url }).settings.database.url).toBe(url);
  });

  it.each(['url = "postgres://ann:s3cret@host/db', 'url = postgres://ann:s3cret@host/db', 'url = "a" "postgres://ann:s3cret@host/db"'])(
    'never show a line of a file that cannot be read: %s',
    (line) => {
      write('rhythm.toml', `[database]\n${line}\nx = 1\n`);
      const error = thrownBy(() => load());
      expect(error).toMatchObject({ code: 'RHYTHM_CONFIG_FILE', message: expect.stringMatching(/rhythm\.toml:2:\d+: \w/) });
      expect(inspect(error)).not.toContain('s3cret');
    },
  );

  it('accept a URL or "embedded" instead of the database settings', () => {
    expect(load({}, { database: 'embedded' }).settings.database.url).toBe('embedded');
    expect(load({}, { database: URL_A }).settings.database.url).toBe(URL_A);
    expect(() => load({}, { database: 'embeded' })).toThrow(/does not start with "postgres:\/\/".*Did you mean "embedded"\? Expected/);
  });
});

describe('the ages of retention', () => {
  const DAY = 86_400_000;

  it('keep failed runs for ever, others for 30 days, and ids as long as the longest of them', () => {
    const { retention } = load({ RHYTHM_DATABASE_URL: URL_A }).settings;
    expect(retention).toEqual({ completed: 30 * DAY, failed: false, cancelled: 30 * DAY, history: false, keys: 30 * DAY });
    const longer = load({ RHYTHM_DATABASE_URL: URL_A, RHYTHM_RETENTION_FAILED: '90d', RHYTHM_RETENTION_COMPLETED: 'never' });
    expect(longer.settings.retention).toMatchObject({ completed: false, failed: 90 * DAY, keys: 90 * DAY });
    expect(load({ RHYTHM_DATABASE_URL: URL_A }, { retention: { keys: false } }).settings.retention.keys).toBe(false);
  });

  it('are refused when an id would be forgotten earlier than another run of it is kept', () => {
    expect(() => load({ RHYTHM_DATABASE_URL: URL_A }, { retention: { failed: '90d', keys: '60d' } })).toThrow(
      'Setting retention.keys (retention.keys in options) must not be less than retention.failed (retention.failed in options).',
    );
  });

  it('are refused when they are shorter than a minute, or neither a duration nor false', () => {
    for (const completed of ['59s', 'soon', true, null])
      expect(() => load({ RHYTHM_DATABASE_URL: URL_A }, { retention: { completed } })).toThrow('Setting retention.completed');
  });
});
