// Walks the schema: every setting with its path and the names it has in the environment and in rhythm.toml.

import { SCHEMA } from './schema.js';
import type { Setting } from './setting.js';

/** The names of a setting in the environment and in rhythm.toml. */
export interface SettingNames {
  /** `RHYTHM_DATABASE_MAX_CONNECTIONS` */
  variable: string;
  /** `database.max_connections` */
  fileKey: string;
}

/** A setting with its names. */
export interface NamedSetting extends SettingNames {
  /** `database.maxConnections` */
  path: string;
  setting: Setting<unknown, unknown>;
  /** The names under which it is given in whole seconds. */
  seconds?: SettingNames;
}

/** Every setting in the order of the table. */
export function allSettings(): NamedSetting[] {
  return collect(SCHEMA, []);
}

/** `maxConnections` → `max_connections` */
export function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The name under which a setting is given in whole seconds: `acquire_timeout` → `acquire_timeout_secs` */
export function secondsKey(fileKey: string): string {
  return `${fileKey}_secs`;
}

/** Whether a node of the schema is a setting and not a group of settings. */
export function isSetting(node: unknown): node is Setting<unknown, unknown> {
  return typeof (node as Setting<unknown, unknown>).read === 'function';
}

function collect(node: object, keys: string[]): NamedSetting[] {
  return Object.entries(node).flatMap(([key, child]) => {
    const path = [...keys, key];
    if (!isSetting(child)) return collect(child, path);
    const fileKey = path.map(snakeCase).join('.');
    const named: NamedSetting = { path: path.join('.'), ...namesOf(fileKey), setting: child };
    return [child.inSeconds ? { ...named, seconds: namesOf(secondsKey(fileKey)) } : named];
  });
}

function namesOf(fileKey: string): SettingNames {
  return { variable: `RHYTHM_${fileKey.replaceAll('.', '_').toUpperCase()}`, fileKey };
}
