// The layers that settings come from, highest first: options in code or flags, environment, configuration file.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import { parse as parseToml, TomlError } from 'smol-toml';
import { ConfigurationError } from '../errors.js';
import { didYouMean } from '../nearest.js';
import { SCHEMA } from './schema.js';
import { allSettings, isSetting, snakeCase } from './setting-paths.js';

/** Values of one origin by setting path, each with the place it stands at. */
export type Layer = Map<string, { value: unknown; source: string }>;

/** Variables that are ours but are no settings; those of the repository's own test runs are left alone. */
const OTHER_VARIABLES = ['RHYTHM_CONFIG_PATH'];
const TEST_PREFIX = 'RHYTHM_TEST_';

/** Options of the module or flags of the CLI. */
export function layerOfOptions(options: Record<string, unknown>, label: string): Layer {
  const layer: Layer = new Map();
  const normal = typeof options.database === 'string' ? { ...options, database: { url: options.database } } : options;
  flatten(normal, SCHEMA, [], (key) => key, label, layer);
  return layer;
}

/** `RHYTHM_*` variables, those of `.env` below those of the process; `DATABASE_URL` below both. */
export function layerOfEnvironment(env: NodeJS.ProcessEnv, folder: string): Layer {
  const layer: Layer = new Map();
  const file = join(folder, '.env');
  const dotenv: NodeJS.ProcessEnv = existsSync(file) ? parseDotenv(readFileSync(file)) : {};
  for (const [origin, variables] of [
    ['environment', env],
    ['.env', dotenv],
  ] as const)
    readVariables(layer, variables, origin);
  for (const [origin, variables] of [
    ['environment', env],
    ['.env', dotenv],
  ] as const) {
    const value = variables.DATABASE_URL;
    // The app's own variable may point at another kind of database; then it is not meant for us.
    if (value && /^postgres(ql)?:/.test(value) && !layer.has('database.url')) {
      layer.set('database.url', { value, source: `DATABASE_URL (${origin})` });
    }
  }
  return layer;
}

/** `RHYTHM_CONFIG_PATH` (or an explicit path), else `rhythm.toml`, else the user's own file. */
export function layerOfFile(env: NodeJS.ProcessEnv, folder: string, explicit?: string): Layer {
  const layer: Layer = new Map();
  const file = findFile(env, folder, explicit);
  if (file === undefined) return layer;
  flatten(readToml(file), SCHEMA, [], snakeCase, file, layer);
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
    throw new ConfigurationError(`Cannot read ${file}${where}: ${(error as Error).message}`, 'RHYTHM_CONFIG_FILE', { cause: error });
  }
}

function readVariables(layer: Layer, variables: NodeJS.ProcessEnv, origin: string): void {
  const known = new Map(allSettings().map((named) => [named.variable, named]));
  for (const [variable, text] of Object.entries(variables)) {
    if (!variable.startsWith('RHYTHM_') || variable.startsWith(TEST_PREFIX) || OTHER_VARIABLES.includes(variable)) continue;
    const named = known.get(variable);
    if (!named) {
      throw new ConfigurationError(
        `Unknown variable ${variable} (${origin}).${didYouMean(variable, [...known.keys(), ...OTHER_VARIABLES])} All variables are listed in docs/configuration.md of the package nestjs-rhythm.`,
        'RHYTHM_UNKNOWN_SETTING',
      );
    }
    // An empty variable is how shells and compose files say "not set".
    if (text === undefined || text === '' || layer.has(named.path)) continue;
    layer.set(named.path, { value: named.setting.fromText(text), source: `${variable} (${origin})` });
  }
}

function flatten(
  given: Record<string, unknown>,
  schema: object,
  path: string[],
  spell: (key: string) => string,
  source: string,
  layer: Layer,
): void {
  const known = new Map(Object.entries(schema).map(([key, node]) => [spell(key), { key, node }]));
  for (const [written, value] of Object.entries(given)) {
    const found = known.get(written);
    const where = [...path.map(spell), written].join('.');
    if (!found) {
      throw new ConfigurationError(
        `Unknown setting "${where}" in ${source}.${didYouMean(written, known.keys())} ` +
          `${path.length ? `Settings of ${path.map(spell).join('.')}` : 'Settings'}: ${[...known.keys()].join(', ')}.`,
        'RHYTHM_UNKNOWN_SETTING',
      );
    }
    if (value === undefined) continue;
    const here = [...path, found.key];
    if (isSetting(found.node)) layer.set(here.join('.'), { value, source: `${where} in ${source}` });
    else if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      flatten(value as Record<string, unknown>, found.node, here, spell, source, layer);
    } else throw new ConfigurationError(`Setting "${where}" in ${source} is a group of settings, not a value.`, 'RHYTHM_INVALID_SETTING');
  }
}
