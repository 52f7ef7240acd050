// The layers that settings come from, highest first: options in code or flags, environment, configuration file.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { parse as parseToml, TomlError } from 'smol-toml';
import { ConfigurationError } from '../errors.js';
import { didYouMean, nearest } from '../nearest.js';
import { maskUrlsIn } from './mask-url.js';
import { SCHEMA } from './schema.js';
import type { Setting } from './setting.js';
import { allSettings, isSetting, secondsKey, snakeCase } from './setting-paths.js';

/** A value, where it was given, and how it is read. */
export interface Given {
  value: unknown;
  source: string;
  setting: Setting<unknown, unknown>;
}

/** The values of one origin, by the paths of their settings. */
export type Layer = Map<string, Given>;

/** A layer of variables, and those beginning with RHYTHM_ that are nobody's setting. */
export interface EnvironmentLayer {
  layer: Layer;
  ignored: string[];
}

/** Variables of ours that are not settings. Those of the repository's own test runs are ignored. */
const OTHER_VARIABLES = ['RHYTHM_CONFIG_PATH'];
const PREFIX = 'RHYTHM_';
const TEST_PREFIX = 'RHYTHM_TEST_';
/** How Kubernetes names the variables of a Service. */
const SERVICE_LINK = /_(SERVICE_(HOST|PORT(_[A-Z0-9_]+)?)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)$/;

/** How settings are spelled in code and in rhythm.toml, and whether they have a second name there, in seconds. */
const IN_CODE = { spell: (key: string) => key, seconds: false };
const IN_A_FILE = { spell: snakeCase, seconds: true };

/** Options of the module or flags of the CLI. */
export function layerOfOptions(options: Record<string, unknown>, label: string): Layer {
  const layer: Layer = new Map();
  const normal = typeof options.database === 'string' ? { ...options, database: { url: options.database } } : options;
  flatten(normal, SCHEMA, [], IN_CODE, label, layer);
  return layer;
}

/** `RHYTHM_*` variables, those of `.env` below those of the process; `DATABASE_URL` below both. */
export function layerOfEnvironment(env: NodeJS.ProcessEnv, folder: string): EnvironmentLayer {
  const file = join(folder, '.env');
  const dotenv: NodeJS.ProcessEnv = existsSync(file) ? parseDotenv(readFileSync(file)) : {};
  const ignored = new Set<string>();
  // Of two equal paths in a Map, the later one counts.
  const layer = new Map([
    ...readDatabaseUrl(dotenv, '.env'),
    ...readDatabaseUrl(env, 'environment'),
    ...readVariables(dotenv, '.env', ignored),
    ...readVariables(env, 'environment', ignored),
  ]);
  return { layer, ignored: [...ignored].sort() };
}

/** The file of an explicit path or of `RHYTHM_CONFIG_PATH`, else `rhythm.toml`, else the file in the user's home. */
export function layerOfFile(env: NodeJS.ProcessEnv, folder: string, explicit?: string): Layer {
  const layer: Layer = new Map();
  const file = findFile(env, folder, explicit);
  if (file === undefined) return layer;
  flatten(readToml(file), SCHEMA, [], IN_A_FILE, file, layer);
  return layer;
}

function findFile(env: NodeJS.ProcessEnv, folder: string, explicit?: string): string | undefined {
  const named = explicit ?? env.RHYTHM_CONFIG_PATH;
  if (named) {
    const file = resolve(folder, named);
    if (existsSync(file)) return file;
    const by = explicit ? 'the option configPath (--config)' : 'RHYTHM_CONFIG_PATH';
    throw new ConfigurationError(`The configuration file ${file}, named by ${by}, does not exist.`, 'RHYTHM_CONFIG_FILE');
  }
  const home = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config');
  return [join(folder, 'rhythm.toml'), join(home, 'rhythm', 'config.toml')].find((file) => existsSync(file));
}

function readToml(file: string): Record<string, unknown> {
  try {
    return parseToml(readFileSync(file, 'utf8'));
  } catch (error) {
    const where = error instanceof TomlError ? `:${error.line}:${error.column}` : '';
    // Without the lines of the file, which the message of the parser shows, and without the parser's error as the cause, which loggers
    // print: a password may be in them.
    const [reason] = (error as Error).message.split('\n');
    throw new ConfigurationError(`Cannot read ${file}${where}: ${maskUrlsIn(reason!)}`, 'RHYTHM_CONFIG_FILE');
  }
}

function readVariables(variables: NodeJS.ProcessEnv, origin: string, ignored: Set<string>): Layer {
  const layer: Layer = new Map();
  const known = knownVariables();
  for (const [variable, text] of Object.entries(variables)) {
    if (!variable.startsWith(PREFIX) || variable.startsWith(TEST_PREFIX) || OTHER_VARIABLES.includes(variable)) continue;
    const found = known.get(variable);
    if (!found) {
      const meant = meantVariable(variable, [...known.keys(), ...OTHER_VARIABLES]);
      if (meant !== undefined) {
        throw new ConfigurationError(
          `Unknown variable ${variable} (${origin}). Did you mean "${meant}"? All variables are listed in docs/configuration.md of the package nestjs-rhythm.`,
          'RHYTHM_UNKNOWN_SETTING',
        );
      }
      ignored.add(variable);
      continue;
    }
    // In shells and compose files, an empty variable means that it is not set.
    if (text === undefined || text === '') continue;
    const { path, setting } = found;
    put(layer, path, { value: setting.fromText(text), source: `${variable} (${origin})`, setting });
  }
  return layer;
}

// The setting that a variable is a misspelling of. Variables with this prefix may be nobody's mistake: Kubernetes makes
// RHYTHM_SERVICE_HOST, RHYTHM_PORT_80_TCP_ADDR and more of a Service that is called "rhythm".
function meantVariable(variable: string, known: readonly string[]): string | undefined {
  if (SERVICE_LINK.test(variable)) return undefined;
  const found = nearest(
    variable.slice(PREFIX.length),
    known.map((each) => each.slice(PREFIX.length)),
  );
  return found === undefined ? undefined : PREFIX + found;
}

function knownVariables(): Map<string, { path: string; setting: Setting<unknown, unknown> }> {
  const known = new Map<string, { path: string; setting: Setting<unknown, unknown> }>();
  for (const { path, variable, setting, seconds } of allSettings()) {
    known.set(variable, { path, setting });
    if (seconds) known.set(seconds.variable, { path, setting: setting.inSeconds! });
  }
  return known;
}

function readDatabaseUrl({ DATABASE_URL: value }: NodeJS.ProcessEnv, origin: string): Layer {
  // The app's own variable may be of another kind of database; then it is not meant for Rhythm.
  if (!value || !/^postgres(ql)?:/.test(value)) return new Map();
  return new Map([['database.url', { value, source: `DATABASE_URL (${origin})`, setting: SCHEMA.database.url }]]);
}

function put(layer: Layer, path: string, given: Given): void {
  const other = layer.get(path);
  if (other) {
    throw new ConfigurationError(
      `${other.source} and ${given.source} are two names of the setting ${path}. Give only one of them.`,
      'RHYTHM_INVALID_SETTING',
    );
  }
  layer.set(path, given);
}

function flatten(
  given: Record<string, unknown>,
  schema: object,
  path: string[],
  names: typeof IN_CODE,
  source: string,
  layer: Layer,
): void {
  const known = knownKeys(schema, names);
  const above = path.map(names.spell);
  for (const [written, value] of Object.entries(given)) {
    const found = known.get(written);
    const where = [...above, written].join('.');
    if (!found) {
      throw new ConfigurationError(
        `Unknown setting "${where}" in ${source}.${didYouMean(written, known.keys())} ` +
          `${path.length ? `Settings of ${above.join('.')}` : 'Settings'}: ${[...known.keys()].join(', ')}.`,
        'RHYTHM_UNKNOWN_SETTING',
      );
    }
    if (value === undefined) continue;
    const { key, node } = found;
    if (isSetting(node)) put(layer, [...path, key].join('.'), { value, source: `${where} in ${source}`, setting: node });
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      flatten(value as Record<string, unknown>, node, [...path, key], names, source, layer);
    } else throw new ConfigurationError(`Setting "${where}" in ${source} is a group of settings, not a value.`, 'RHYTHM_INVALID_SETTING');
  }
}

function knownKeys(schema: object, { spell, seconds }: typeof IN_CODE): Map<string, { key: string; node: object }> {
  const known = new Map<string, { key: string; node: object }>();
  for (const [key, node] of Object.entries(schema) as [string, object][]) {
    known.set(spell(key), { key, node });
    if (seconds && isSetting(node) && node.inSeconds) known.set(secondsKey(spell(key)), { key, node: node.inSeconds });
  }
  return known;
}
