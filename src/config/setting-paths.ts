// Walks the schema: every setting with its path and the names it has in the environment and in rhythm.toml.

import { SCHEMA } from './schema.js';
import type { Setting } from './setting.js';

/** A setting with its names. */
export interface NamedSetting {
  /** `database.maxConnections` */
  path: string;
  /** `RHYTHM_DATABASE_MAX_CONNECTIONS` */
  variable: string;
  /** `database.max_connections` */
  fileKey: string;
  setting: Setting<unknown, unknown>;
}

/** Every setting in the order of the table. */
export function allSettings(): NamedSetting[] {
  return collect(SCHEMA, []);
}

/** `maxConnections` → `max_connections` */
export function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether a node of the schema is a setting, not a section of settings. */
export function isSetting(node: unknown): node is Setting<unknown, unknown> {
  return typeof (node as Setting<unknown, unknown>).read === 'function';
}

function collect(node: object, keys: string[]): NamedSetting[] {
  return Object.entries(node).flatMap(([key, child]) => {
    const path = [...keys, key];
    if (!isSetting(child)) return collect(child, path);
    const fileKey = path.map(snakeCase).join('.');
    return [{ path: path.join('.'), variable: `RHYTHM_${fileKey.replaceAll('.', '_').toUpperCase()}`, fileKey, setting: child }];
  });
}
