// Finds what a start refers to by a name: a workflow of this process, a task of this process, or a workflow in the database.

import { Inject, Injectable, Logger } from '@nestjs/common';
import type { TaskPolicy } from '../../libs/engine/index.js';
import { currentVersion, definitionNames, listDefinitions, type StoredFailureHandler } from '../../libs/store/index.js';
import { checkFailureHandler, checkName, type FailureHandler } from '../check-argument.js';
import type { LoadedSettings } from '../config/load-settings.js';
import { DatabaseHost } from '../database/database.host.js';
import { ConfigurationError, InvalidArgumentError, UnknownNameError } from '../errors.js';
import { FlowRegistry } from '../flows/flow.registry.js';
import { pickVersion } from '../flows/pick-version.js';
import { externalTasksOf, RHYTHM_OPTIONS, RHYTHM_SETTINGS, type RhythmModuleOptions } from '../module-options.js';
import { didYouMean, listNames } from '../nearest.js';
import { TaskRegistry } from '../tasks/task.registry.js';
import type { StartOptions } from './start-options.js';

/** What is to be started. */
export interface StartTarget {
  type: 'workflow' | 'task';
  name: string;
  version?: string;
  /** The declaration, for a task of this process. */
  policy?: TaskPolicy;
  /** What is started when it fails. */
  onFailure?: StoredFailureHandler;
}

/** Resolves names of workflows and tasks. */
@Injectable()
export class TargetResolver {
  private readonly logger = new Logger('Rhythm');
  private readonly noted = new Set<string>();

  constructor(
    private readonly flows: FlowRegistry,
    private readonly tasks: TaskRegistry,
    private readonly database: DatabaseHost,
    @Inject(RHYTHM_OPTIONS) private readonly options: RhythmModuleOptions,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
  ) {}

  /** The target of a start; throws an `UnknownNameError` with the nearest names. */
  async resolve(given: string, options: StartOptions, path: string): Promise<StartTarget> {
    const target = await this.find(given, options, path);
    const declared = target.type === 'task' ? this.tasks.get(target.name)?.onFailure : this.flows.get(target.name)?.onFailure;
    const handler = options.onFailure === undefined ? declared : options.onFailure;
    if (handler === undefined || handler === null) return target;
    try {
      return { ...target, onFailure: await this.handler(handler, `${path}.onFailure`) };
    } catch (error) {
      if (!(error instanceof UnknownNameError) || options.onFailure !== undefined) throw error;
      // What is declared wrongly is no mistake of the caller.
      throw new ConfigurationError(`The onFailure that is declared for the ${target.type} "${target.name}" is not there: ${error.message}`);
    }
  }

  private async handler(given: FailureHandler, path: string): Promise<StoredFailureHandler> {
    const { name, type } = checkFailureHandler(given, path);
    const { version, policy, type: found } = await this.find(name, { type }, path);
    return { type: found, name, queue: policy?.queue ?? 'default', priority: policy?.priority ?? 0, version };
  }

  private async find(given: string, { type, version }: StartOptions, path: string): Promise<StartTarget> {
    const name = checkName(given, path.replace(/options$/, 'name'));
    const flow = this.flows.get(name);
    const task = this.tasks.get(name);
    if (type === undefined && flow && task) {
      throw new InvalidArgumentError(
        'RHYTHM_OPTION_INVALID',
        `${path}.type`,
        `"${name}" is a workflow (${flow.file}) and a task (${task.place}). Choose one with { type: 'workflow' } or { type: 'task' }.`,
      );
    }
    if (type === 'task' || (type === undefined && task)) {
      if (version !== undefined) {
        throw new InvalidArgumentError(
          'RHYTHM_OPTION_INVALID',
          `${path}.version`,
          `${path}.version is for workflows; "${name}" is started as a task.`,
        );
      }
      return this.task(name);
    }
    if (version !== undefined) return { type: 'workflow', name, version: await this.chosenVersion(name, version, `${path}.version`) };
    // A process that has the flow starts its own version: during a deploy old pods start the old one, new pods the new one.
    if (flow) return { type: 'workflow', name, version: flow.version };
    const current = await currentVersion(this.database.store.db, name);
    if (current !== undefined) {
      this.noteStored(name);
      return { type: 'workflow', name, version: current };
    }
    throw await this.unknown(name, type);
  }

  /** Whether a task that this process does not have may be called anyway. */
  isExternalTask(name: string): boolean {
    const external = externalTasksOf(this.options);
    return external.includes('*') || external.includes(name);
  }

  private task(name: string): StartTarget {
    const task = this.tasks.get(name);
    if (task) return { type: 'task', name, policy: task.policy };
    // A process that runs no work does not need to have the tasks it starts.
    if (this.loaded.settings.role === 'api' || this.isExternalTask(name)) return { type: 'task', name };
    const known = this.tasks.names();
    throw new UnknownNameError(
      'task',
      name,
      known,
      `No task is named "${name}".${didYouMean(name, known)} Tasks of this process: ${listNames(known)}. A task of another application must be listed in externalTasks.`,
    );
  }

  // An app that has flows mostly starts its own: the file of this one was probably deleted or renamed, or belongs to another app.
  private noteStored(name: string): void {
    if (this.flows.names().length === 0 || this.noted.has(name)) return;
    this.noted.add(name);
    this.logger.warn(
      `The workflow "${name}" is not among the flows of this process; its current version in the database is started.${didYouMean(name, this.flows.names())} If its file was deleted, nothing should start it any more.`,
    );
  }

  private async chosenVersion(name: string, given: string, path: string): Promise<string> {
    const versions = await listDefinitions(this.database.store.db, name);
    if (versions.length === 0) throw await this.unknown(name, 'workflow');
    return pickVersion(versions, name, given, path).version;
  }

  private async unknown(name: string, type: StartOptions['type']): Promise<UnknownNameError> {
    const workflows = [...new Set([...this.flows.names(), ...(await definitionNames(this.database.store.db))])];
    const tasks = type === 'workflow' ? [] : this.tasks.names();
    const asTask =
      type === undefined && this.loaded.settings.role === 'api' ? " To start a task that workers run, pass { type: 'task' }." : '';
    return new UnknownNameError(
      type ?? 'workflow or task',
      name,
      [...workflows, ...tasks],
      `No ${type ?? 'workflow or task'} is named "${name}".${didYouMean(name, [...workflows, ...tasks])} ` +
        `Workflows: ${listNames(workflows)}.${type === 'workflow' ? '' : ` Tasks of this process: ${listNames(tasks)}.`}${asTask}`,
    );
  }
}
