// The flags of a command line that started this process: they rank above what the application's code says.

import type { SettingOptions } from './schema.js';

/** What flags can say of the settings. */
export interface ProcessFlags {
  options: SettingOptions;
  configPath?: string;
}

// On the global object: the command and the application may have loaded two copies of this package (ESM and CommonJS).
const KEY = Symbol.for('rhythm:flags');
const holder = globalThis as { [KEY]?: ProcessFlags };

/** Sets the flags of this process; `rhythm worker` does, before it loads the application. */
export function setProcessFlags(flags: ProcessFlags | undefined): void {
  holder[KEY] = flags;
}

/** The flags of this process, if a command set any. */
export function processFlags(): ProcessFlags | undefined {
  return holder[KEY];
}
