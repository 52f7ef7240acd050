// `DefinitionService`: the stored versions of workflows, and which of them is current.

import { Injectable, Logger } from '@nestjs/common';
import { intersectAllowLists, saveProgram } from '../../libs/flow/index.js';
import {
  type AllowListState,
  activateDefinition,
  changeAllowLists,
  type Definition,
  definitionNames,
  listDefinitions,
  lockAllowLists,
  readAllowLists,
  type Store,
  upsertDefinitions,
} from '../../libs/store/index.js';
import { checkName } from '../check-argument.js';
import { DatabaseHost } from '../database/database.host.js';
import { UnknownNameError } from '../errors.js';
import { didYouMean, listNames } from '../nearest.js';
import { changeOnBoot, isNarrower, replaceStored, showAllowList } from './allow-list-change.js';
import { FlowRegistry, type LoadedFlow } from './flow.registry.js';
import { pickVersion } from './pick-version.js';

/** A stored version of a workflow. */
export type WorkflowVersion = Definition;

/**
 * The versions of workflows in the database. A new version becomes current when a process that has it starts; `activate` makes an
 * older one current again.
 *
 * @publicApi
 */
@Injectable()
export class DefinitionService {
  private readonly store: Store;
  private readonly logger = new Logger('Rhythm');

  constructor(
    database: DatabaseHost,
    private readonly flows: FlowRegistry,
  ) {
    this.store = database.store;
  }

  /** Stores the workflows of this process. Returns the names of those that got a new version. */
  async publish(): Promise<string[]> {
    const flows = this.flows.all();
    if (flows.length === 0) return [];
    const names = await upsertDefinitions(
      this.store.db,
      flows.map(({ allow, program, ...flow }) => ({
        ...flow,
        fingerprint: program.fingerprint,
        program: saveProgram(program),
        allow: intersectAllowLists(allow),
      })),
    );
    await this.storeAllowLists(flows);
    return names;
  }

  /** Every version of a workflow (or of all workflows), the current one first. */
  async versions(name?: string): Promise<WorkflowVersion[]> {
    if (name !== undefined) checkName(name, 'name');
    return listDefinitions(this.store.reader, name);
  }

  /** The version that is started by processes that have not loaded the flow, such as the CLI and API-only processes. */
  async current(name: string): Promise<WorkflowVersion> {
    const [first] = await this.versions(name);
    if (!first) throw await this.unknown(name);
    return first;
  }

  /**
   * Makes a stored version (its hash, or a unique beginning of at least 7 characters) current. Existing runs keep theirs. If this
   * process has loaded that version, its allow-list and its `isolate` become the stored ones.
   */
  async activate(name: string, version: string): Promise<WorkflowVersion> {
    const versions = await this.versions(name);
    if (versions.length === 0) throw await this.unknown(name);
    const chosen = pickVersion(versions, name, version, 'version');
    const loaded = this.flows.get(name);
    const rules = await this.store.db.transaction(async (db) => {
      await activateDefinition(db, name, chosen.version);
      if (loaded?.version !== chosen.version) return { allow: chosen.allow, isolate: chosen.isolate };
      const [state] = await lockAllowLists(db, [chosen]);
      const changed = replaceStored(state!, loaded);
      await changeAllowLists(db, [changed]);
      return { allow: changed.allow, isolate: changed.isolate };
    });
    return { ...chosen, ...rules, current: true };
  }

  // A process whose lists are stored already, which is nearly every one, only reads.
  private async storeAllowLists(flows: readonly LoadedFlow[]): Promise<void> {
    const own = new Map(flows.map((flow) => [flow.name, flow]));
    const changed = (states: AllowListState[]) => states.flatMap((state) => changeOnBoot(state, own.get(state.name) as LoadedFlow) ?? []);
    let states = await readAllowLists(this.store.db, flows);
    if (changed(states).length > 0) {
      states = await this.store.db.transaction(async (db) => {
        const locked = await lockAllowLists(db, flows);
        const changes = changed(locked);
        await changeAllowLists(db, changes);
        return locked.map((state) => changes.find(({ name }) => name === state.name) ?? state);
      });
    }
    for (const { name, version, allow, isolate } of states) {
      const loaded = own.get(name) as LoadedFlow;
      if (isolate && !loaded.isolate) {
        this.logger.warn(
          `Workflow "${name}" stays isolated: that is stored with its version, and this process asks for less. To end it, call DefinitionService.activate("${name}", "${version.slice(0, 12)}") in this process.`,
        );
      }
      if (!isNarrower(allow, loaded.allow)) continue;
      this.logger.warn(
        `The stored allow-list of workflow "${name}" is narrower than the one of this process (${showAllowList(allow)}). Every worker enforces the stored one. To widen it, call DefinitionService.activate("${name}", "${version.slice(0, 12)}") in this process.`,
      );
    }
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
