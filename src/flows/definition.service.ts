// `DefinitionService`: the stored versions of workflows, and which of them is current.

import { Inject, Injectable } from '@nestjs/common';
import { saveProgram } from '../../libs/flow/index.js';
import {
  activateDefinition,
  type Definition,
  definitionNames,
  listDefinitions,
  type Store,
  upsertDefinitions,
} from '../../libs/store/index.js';
import { checkName, checkText } from '../check-argument.js';
import { DatabaseHost } from '../database/database.host.js';
import { InvalidArgumentError, UnknownNameError } from '../errors.js';
import { didYouMean, listNames } from '../nearest.js';
import { FlowRegistry } from './flow.registry.js';

/** A stored version of a workflow. */
export type WorkflowVersion = Pick<Definition, 'name' | 'version' | 'source' | 'file' | 'current' | 'createdAt'>;

/**
 * The versions of workflows in the database. A version whose text was never seen becomes current when a process that
 * has it starts; `activate` makes an older one current again.
 *
 * @publicApi
 */
@Injectable()
export class DefinitionService {
  private readonly store: Store;

  constructor(
    @Inject(DatabaseHost) database: DatabaseHost,
    @Inject(FlowRegistry) private readonly flows: FlowRegistry,
  ) {
    this.store = database.store;
  }

  /** Stores the workflows of this process; answers the names that got a new version. */
  async publish(): Promise<string[]> {
    const flows = this.flows.all();
    if (flows.length === 0) return [];
    return upsertDefinitions(
      this.store.db,
      flows.map(({ name, version, source, file, program }) => ({ name, version, source, file, program: saveProgram(program) })),
    );
  }

  /** Every version of a workflow (or of all), the current one first. */
  async versions(name?: string): Promise<WorkflowVersion[]> {
    if (name !== undefined) checkName(name, 'name');
    const stored = await listDefinitions(this.store.reader, name);
    return stored.map(({ program: _program, ...version }) => version);
  }

  /** The version that starts without a loaded flow use: from the CLI, by schedule, from API-only processes. */
  async current(name: string): Promise<WorkflowVersion> {
    const [first] = await this.versions(name);
    if (!first) throw await this.unknown(name);
    return first;
  }

  /** Makes a stored version (hash, or a unique beginning of at least 7 characters) current. Runs under way keep theirs. */
  async activate(name: string, version: string): Promise<WorkflowVersion> {
    const wanted = checkText(version, 'version', 64, 'RHYTHM_OPTION_INVALID');
    const versions = await this.versions(name);
    if (versions.length === 0) throw await this.unknown(name);
    const found = versions.filter((stored) => stored.version === wanted || (wanted.length >= 7 && stored.version.startsWith(wanted)));
    if (found.length !== 1) {
      throw new InvalidArgumentError(
        'RHYTHM_UNKNOWN_VERSION',
        'version',
        `${found.length ? 'More than one version' : 'No version'} of workflow "${name}" matches "${wanted}". Versions in the database, current first: ${versions.map((stored) => stored.version.slice(0, 12)).join(', ')}.`,
      );
    }
    await activateDefinition(this.store.db, name, found[0]!.version);
    return { ...found[0]!, current: true };
  }

  private async unknown(name: string): Promise<UnknownNameError> {
    const known = await definitionNames(this.store.db);
    return new UnknownNameError(
      'workflow',
      name,
      known,
      `No workflow is named "${name}".${didYouMean(name, known)} Workflows in the database: ${listNames(known)}.`,
    );
  }
}
