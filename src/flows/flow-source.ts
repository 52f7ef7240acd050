// Where flows come from: folders, files and inline source; read once, at boot.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import type { FlowAllowList } from '../../libs/flow/index.js';
import { checkBoolean, checkKeys, checkName } from '../check-argument.js';
import { ConfigurationError } from '../errors.js';

/**
 * A folder of `.flow` files (including its subfolders), one `.flow` file, or inline source.
 * A file's workflow is named after it: `flows/order.flow` is "order", `flows/billing/refund.flow` is "billing/refund".
 */
export type FlowSource = string | ({ path: string } & FlowLimitations) | ({ name: string; source: string } & FlowLimitations);

/** What limits the flows of a source. */
export interface FlowLimitations {
  /** What they may call; a list that is absent allows every name. */
  allow?: FlowAllowList;
  /** Runs their turns in processes of their own: for code that you do not trust. */
  isolate?: boolean;
}

/** The source of one workflow, with its name. */
export interface NamedSource {
  name: string;
  source: string;
  /** For messages and stack traces. */
  file: string;
  allow: FlowAllowList | undefined;
  isolate: boolean;
}

/** Reads every flow of the given sources; `label` is the name of the option in messages. */
export function readFlows(sources: readonly FlowSource[], label: string): NamedSource[] {
  return sources.flatMap((given, index) => {
    const at = `${label}[${index}]`;
    if (typeof given === 'string') return readPath(given, { allow: undefined, isolate: false }, at);
    if (given && typeof given === 'object' && 'path' in given) {
      checkKeys(given, ['path', ...LIMITATIONS], at);
      return readPath(given.path, limitationsOf(given, at), at);
    }
    checkKeys(given, ['name', 'source', ...LIMITATIONS], at);
    if (typeof given?.source !== 'string') {
      throw new ConfigurationError(
        `${at} is neither a path, { path, allow?, isolate? } nor { name, source, allow?, isolate? }.`,
        'RHYTHM_FLOW_SOURCE',
      );
    }
    return [{ name: checkName(given.name, `${at}.name`), source: given.source, file: `${given.name}.flow`, ...limitationsOf(given, at) }];
  });
}

function readPath(path: string, limits: Limitations, at: string): NamedSource[] {
  const full = resolve(path);
  const found = statSync(full, { throwIfNoEntry: false });
  if (!found) {
    throw new ConfigurationError(
      `${at}: ${full} does not exist. Paths are relative to the working directory, ${process.cwd()}.`,
      'RHYTHM_FLOW_SOURCE',
    );
  }
  if (found.isFile()) return [readFile(full, basename(full), limits)];
  const files = readdirSync(full, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.flow'));
  if (files.length === 0) throw new ConfigurationError(`${at}: the folder ${full} contains no .flow file.`, 'RHYTHM_FLOW_SOURCE');
  return files.sort().map((file) => readFile(join(full, file), file, limits));
}

function readFile(full: string, inFolder: string, limits: Limitations): NamedSource {
  const name = inFolder
    .replace(/\.flow$/, '')
    .split(sep)
    .join('/');
  const shown = relative(process.cwd(), full);
  return {
    name: checkName(name, `The name of ${full}`),
    source: readFileSync(full, 'utf8'),
    file: shown.startsWith('..') ? full : shown,
    ...limits,
  };
}

type Limitations = Pick<NamedSource, 'allow' | 'isolate'>;
const LIMITATIONS = ['allow', 'isolate'];

function limitationsOf({ allow, isolate }: FlowLimitations, at: string): Limitations {
  return { allow: checkAllow(allow, at), isolate: isolate === undefined ? false : checkBoolean(isolate, `${at}.isolate`) };
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
