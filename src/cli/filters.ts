// The filter flags of `list` and the bulk operations.

import { type Command, Option } from 'commander';
import { WAITING_KINDS, type WaitingKind } from '../../libs/store/index.js';
import { parseDuration, parseInstant } from '../duration.js';
import { InvalidArgumentError } from '../errors.js';
import type { ExecutionStatus } from '../execution/execution.js';
import type { ListOptions, WaitsFor } from '../execution/list-page.js';
import { didYouMean } from '../nearest.js';
import { UsageError } from './usage-error.js';

/** The flags as commander passes them. */
export interface FilterFlags {
  status?: string;
  name?: string;
  type?: 'task' | 'workflow';
  queue?: string;
  tag?: string;
  parent?: string;
  since?: string;
  before?: string;
  waitsFor?: string;
}

export const ENDED = ['completed', 'failed', 'cancelled'] as const;
export const NOT_ENDED: readonly ExecutionStatus[] = ['pending', 'running', 'suspended', 'paused'];
export const STATUSES: readonly ExecutionStatus[] = [...NOT_ENDED, ...ENDED];

/** Adds the filter flags to a command. */
export function addFilters(command: Command): Command {
  return command
    .option('--status <list>', `only these statuses, separated by commas: ${STATUSES.join(', ')}`)
    .option('--name <name>', 'only runs of this workflow or task')
    .addOption(new Option('--type <type>', 'only tasks or only workflows').choices(['task', 'workflow']))
    .option('--queue <queue>', 'only in this queue')
    .option('--tag <tag>', 'only with this tag')
    .option('--parent <id>', 'only what this execution called')
    .option('--since <time>', 'created in the last 1h, 7d, …, or after a date such as 2030-01-31T09:00:00Z')
    .option('--before <time>', 'created more than 1h, 7d, … ago, or before a date')
    .option(
      '--waits-for <what>',
      'only what is suspended and waits for this: signal:<name>, task:<name>, child:<name>, timer, completion, worker',
    );
}

/** Whether any filter is given. */
export function hasFilter(flags: FilterFlags): boolean {
  return Object.entries(flags).some(([key, value]) => value !== undefined && FILTER_KEYS.includes(key));
}

/** The filter that the flags mean. */
export function filterOf(flags: FilterFlags): ListOptions {
  return {
    ...(flags.status === undefined ? {} : { status: readStatuses(flags.status) }),
    ...(flags.name === undefined ? {} : { name: flags.name }),
    ...(flags.type === undefined ? {} : { type: flags.type }),
    ...(flags.queue === undefined ? {} : { queue: flags.queue }),
    ...(flags.tag === undefined ? {} : { tag: flags.tag }),
    ...(flags.parent === undefined ? {} : { parentId: flags.parent }),
    ...(flags.since === undefined ? {} : { createdAfter: readTime(flags.since, '--since') }),
    ...(flags.before === undefined ? {} : { createdBefore: readTime(flags.before, '--before') }),
    ...(flags.waitsFor === undefined ? {} : { waitsFor: readWaitsFor(flags.waitsFor) }),
  };
}

/** The statuses of a `--status` flag. */
export function readStatuses<Status extends string>(
  text: string,
  known: readonly Status[] = STATUSES as readonly string[] as Status[],
): Status[] {
  return text.split(',').map((part) => {
    const status = part.trim() as Status;
    if (!known.includes(status)) {
      throw new UsageError(
        `--status: "${status}" is not a valid status here.${didYouMean(status, known)} Choose from ${known.join(', ')}.`,
      );
    }
    return status;
  });
}

/** What is waited for: a kind, or a kind and a name. */
export function readWaitsFor(text: string): WaitsFor {
  const colon = text.indexOf(':');
  const kind = (colon < 0 ? text : text.slice(0, colon)) as WaitingKind;
  const name = colon < 0 ? undefined : text.slice(colon + 1);
  if (!WAITING_KINDS.includes(kind)) {
    throw new UsageError(
      `--waits-for: "${kind}" is nothing that an execution waits for.${didYouMean(kind, WAITING_KINDS)} Choose from ${WAITING_KINDS.join(', ')}, with a name as in signal:paid.`,
    );
  }
  if (name === '') throw new UsageError(`--waits-for: "${text}" has no name after the colon. Write ${kind}:<name>, or ${kind} for any.`);
  return name === undefined ? { kind } : { kind, name };
}

/** A time: a duration before now, or a date. */
export function readTime(text: string, flag: string): Date {
  if (/^\d{4}-/.test(text)) return parseInstant(text, flag);
  try {
    return new Date(Date.now() - parseDuration(text, flag));
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new UsageError(
      `${flag}: "${text}" is neither a duration nor a date. Write how long ago (90s, 1h, 7d), or a date such as 2030-01-31 or 2030-01-31T09:00:00Z.`,
    );
  }
}

const FILTER_KEYS = ['status', 'name', 'type', 'queue', 'tag', 'parent', 'since', 'before', 'waitsFor'];
