// Where flows come from: folders, files and inline source; read once, at boot.

import { readFileSync, type Stats, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import type { FlowAllowList } from '../../libs/flow/index.js';
import { checkBoolean, checkFailureHandler, checkKeys, checkName, type FailureHandler } from '../check-argument.js';
import { ConfigurationError } from '../errors.js';
import { checkFlowFile, flowFilesIn, NotAFlowError } from './flow-files.js';

/**
 * A folder of `.flow` files (including its subfolders), one `.flow` file, or inline source.
 * A file's workflow is named after it: `flows/order.flow` is "order", `flows/billing/refund.flow` is "billing/refund".
 */
export type FlowSource = string | ({ path: string } & FlowSourceOptions) | ({ name: string; source: string } & FlowSourceOptions);

/** What may be said of the flows of a source. */
export interface FlowSourceOptions {
  /** What the flows may call; a list that is absent allows every name. */
  allow?: FlowAllowList;
  /** Runs their turns in processes of their own: for code that you do not trust. */
  isolate?: boolean;
  /** Started when a run of these flows fails that this process has started. A workflow that calls another gets the error itself. */
  onFailure?: FailureHandler;
}

/** The source of one workflow, with its name. */
export interface NamedSource {
  name: string;
  source: string;
  /** For messages and stack traces. */
  file: string;
  allow: FlowAllowList | undefined;
  isolate: boolean;
  onFailure?: FailureHandler;
}

/** Reads every flow of the given sources; `label` is the name of the option in messages. */
export function readFlows(sources: readonly FlowSource[], label: string): NamedSource[] {
  return sources.flatMap((given, index) => {
    const at = `${label}[${index}]`;
    if (typeof given === 'string') return readPath(given, { allow: undefined, isolate: false, onFailure: undefined }, at);
    if (given && typeof given === 'object' && 'path' in given) {
      checkKeys(given, ['path', ...OPTIONS], at);
      return readPath(given.path, checkOptions(given, at), at);
    }
    checkKeys(given, ['name', 'source', ...OPTIONS], at);
    if (typeof given?.source !== 'string') {
      throw new ConfigurationError(
        `${at} is neither a path, { path, allow?, isolate? } nor { name, source, allow?, isolate? }.`,
        'RHYTHM_FLOW_SOURCE',
      );
    }
    return [{ name: checkName(given.name, `${at}.name`), source: given.source, file: `${given.name}.flow`, ...checkOptions(given, at) }];
  });
}

function readPath(path: string, options: CheckedOptions, at: string): NamedSource[] {
  const full = resolve(path);
  const found = asFlow(at, () => findPath(full));
  if (!found) {
    throw new ConfigurationError(
      `${at}: ${full} does not exist. Paths are relative to the working directory, ${process.cwd()}.`,
      'RHYTHM_FLOW_SOURCE',
    );
  }
  if (!found.isDirectory()) {
    asFlow(at, () => checkFlowFile(full));
    return [readFile(full, basename(full), options)];
  }
  const files = asFlow(at, () => flowFilesIn(full));
  if (files.length === 0) throw new ConfigurationError(`${at}: the folder ${full} contains no .flow file.`, 'RHYTHM_FLOW_SOURCE');
  return files.map((file) => readFile(join(full, file), file, options));
}

// A link that leads back to itself is there, and cannot be read.
function findPath(full: string): Stats | undefined {
  try {
    return statSync(full, { throwIfNoEntry: false });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') checkFlowFile(full);
    throw error;
  }
}

function asFlow<T>(at: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof NotAFlowError) throw new ConfigurationError(`${at}: ${error.message}`, 'RHYTHM_FLOW_SOURCE');
    throw error;
  }
}

function readFile(full: string, inFolder: string, options: CheckedOptions): NamedSource {
  const name = inFolder
    .replace(/\.flow$/, '')
    .split(sep)
    .join('/');
  const shown = relative(process.cwd(), full);
  return {
    name: checkName(name, `The name of ${full}`),
    source: readFileSync(full, 'utf8'),
    file: shown.startsWith('..') ? full : shown,
    ...options,
  };
}

type CheckedOptions = Pick<NamedSource, 'allow' | 'isolate' | 'onFailure'>;
const OPTIONS = ['allow', 'isolate', 'onFailure'];

function checkOptions({ allow, isolate, onFailure }: FlowSourceOptions, at: string): CheckedOptions {
  if (onFailure !== undefined) checkFailureHandler(onFailure, `${at}.onFailure`);
  return { allow: checkAllow(allow, at), isolate: isolate === undefined ? false : checkBoolean(isolate, `${at}.isolate`), onFailure };
}

function checkAllow(allow: FlowAllowList | undefined, at: string): FlowAllowList | undefined {
  if (allow === undefined) return undefined;
  checkKeys(allow, ['tasks', 'workflows', 'queues'], `${at}.allow`);
  for (const [key, names] of Object.entries(allow)) {
    if (!Array.isArray(names)) throw new ConfigurationError(`${at}.allow.${key} is not an array of names.`, 'RHYTHM_FLOW_SOURCE');
    names.forEach((name, index) => {
      checkName(name, `${at}.allow.${key}[${index}]`);
    });
  }
  return allow;
}
