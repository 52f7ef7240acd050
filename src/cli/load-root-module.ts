// Loads the application's root module from a file that was built to JavaScript.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { listNames } from '../nearest.js';
import { UsageError } from './usage-error.js';

/** What Nest takes as a root module: a class, or a dynamic module. */
export type RootModule = (new (...args: never[]) => unknown) | { module: unknown };

/** The module that a file exports: by name, as default, or the only one. */
export async function loadRootModule(file: string, name: string | undefined): Promise<RootModule> {
  const full = resolve(file);
  if (!existsSync(full)) {
    throw new UsageError(`The file ${full} does not exist. Give the built JavaScript of your root module, e.g. dist/app.module.js.`);
  }
  const exported = await importAll(full);
  const modules = Object.entries(exported).filter(([, value]) => isModule(value));
  const wanted = name ?? (isModule(exported.default) || typeof exported.default === 'function' ? 'default' : undefined);
  const chosen = wanted === undefined ? onlyModule(modules, full) : exported[wanted];
  if (isModule(chosen)) return chosen;
  // A factory function, for options that are known only when the process starts.
  if (typeof chosen === 'function') {
    const created: unknown = await (chosen as () => unknown)();
    if (isModule(created)) return created;
  }
  throw new UsageError(
    modules.length > 0
      ? `${full} exports no Nest module named "${wanted}". Modules it exports: ${listNames(modules.map(([key]) => key))}. Choose one with --module.`
      : `${full} exports no Nest module, and so none named "${wanted}". Export your root module (a class with @Module) from it.`,
  );
}

function onlyModule(modules: [string, unknown][], file: string): unknown {
  const [first, second] = modules;
  if (first && !second) return first[1];
  const root = modules.find(([name]) => name === 'AppModule');
  if (root) return root[1];
  throw new UsageError(
    first
      ? `${file} exports several Nest modules: ${listNames(modules.map(([key]) => key))}. Choose one with --module.`
      : `${file} exports no Nest module. Export your root module (a class with @Module) from it.`,
  );
}

async function importAll(full: string): Promise<Record<string, unknown>> {
  try {
    const module = (await import(pathToFileURL(full).href)) as Record<string, unknown> & { default?: unknown };
    // CommonJS imported from ESM: all exports are properties of `default`.
    const inner = module.default;
    return typeof inner === 'object' && inner !== null && !isModule(inner)
      ? { ...module, ...(inner as object), default: (inner as { default?: unknown }).default }
      : module;
  } catch (error) {
    if (TYPESCRIPT.test(full) && isUnsupportedTypeScript(error)) {
      throw new UsageError(
        `${full} is TypeScript that Node ${process.version} cannot run (${error.message}). Build it first and give the JavaScript, e.g. dist/app.module.js.`,
      );
    }
    throw error;
  }
}

const TYPESCRIPT = /\.[cm]?ts$/;
const UNSUPPORTED = new Set([
  // Node 20, and 22 before 22.18.
  'ERR_UNKNOWN_FILE_EXTENSION',
  // Later versions strip types, and reject syntax that is more than types.
  'ERR_INVALID_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX',
  'ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING',
]);

// Not every failure to import a TypeScript file: if Node has stripped its types, or a loader such as tsx has compiled it, the
// error comes from the file itself.
function isUnsupportedTypeScript(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code = '', url } = error as Error & { code?: string; url?: string };
  if (UNSUPPORTED.has(code)) return true;
  // An import of a file that exists only after a build.
  if (code === 'ERR_MODULE_NOT_FOUND' && url?.startsWith('file:')) {
    const base = fileURLToPath(url).replace(/\.[cm]?js$/, '');
    return ['.ts', '.mts', '.cts'].some((extension) => existsSync(base + extension));
  }
  // V8 found syntax that is not JavaScript, such as a decorator: thrown by Node's loader, not by loaded code.
  return error instanceof SyntaxError && /^ +at .*$/m.exec(error.stack ?? '')?.[0].includes('node:internal/modules') === true;
}

function isModule(value: unknown): value is RootModule {
  if (typeof value === 'function') return MODULE_METADATA.some((key) => Reflect.hasMetadata(key, value));
  return typeof value === 'object' && value !== null && typeof (value as { module?: unknown }).module === 'function';
}

// The metadata that @Module() sets on a class.
const MODULE_METADATA = ['imports', 'providers', 'controllers', 'exports'];
