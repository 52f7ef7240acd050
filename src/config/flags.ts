// The flags of the command that started this process: they take precedence over options in the application's code.

import type { SettingOptions } from './schema.js';

/** The settings that flags have set. */
export interface ProcessFlags {
  options: SettingOptions;
  configPath?: string;
}

// On the global object: the command and the application may load two copies of this package (ESM and CommonJS).
const KEY = Symbol.for('rhythm:flags');
const holder = globalThis as { [KEY]?: ProcessFlags };

/** Sets the flags of this process; `rhythm worker` calls it before it loads the application. */
export function setProcessFlags(flags: ProcessFlags | undefined): void {
  holder[KEY] = flags;
}

/** The flags of this process, if a command set any. */
export function processFlags(): ProcessFlags | undefined {
  return holder[KEY];
}
