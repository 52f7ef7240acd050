// What happens once at boot: tasks are found, flows are checked against them, and workflows are stored.

import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { LoadedSettings } from '../config/load-settings.js';
import { DatabaseHost } from '../database/database.host.js';
import { DefinitionService } from '../flows/definition.service.js';
import { FlowRegistry } from '../flows/flow.registry.js';
import { externalTasksOf, RHYTHM_OPTIONS, RHYTHM_SETTINGS, type RhythmModuleOptions } from '../module-options.js';
import { TaskExplorer } from '../tasks/task.explorer.js';
import { TaskRegistry } from '../tasks/task.registry.js';
import { AppDataSourceFinder } from './app-data-source.finder.js';
import { checkCalls } from './check-calls.js';

/** Prepares the application; a boot that fails leaves no open connection. */
@Injectable()
export class BootSequence implements OnModuleInit {
  constructor(
    @Inject(RHYTHM_OPTIONS) private readonly options: RhythmModuleOptions,
    @Inject(RHYTHM_SETTINGS) private readonly loaded: LoadedSettings,
    private readonly database: DatabaseHost,
    private readonly explorer: TaskExplorer,
    private readonly tasks: TaskRegistry,
    private readonly flows: FlowRegistry,
    private readonly appDataSource: AppDataSourceFinder,
    private readonly definitions: DefinitionService,
  ) {}

  async onModuleInit(): Promise<void> {
    const { task, role } = this.loaded.settings;
    try {
      this.explorer.explore(this.tasks, task, this.options.globalEnhancers);
      await this.appDataSource.checkSchema();
      // A process that runs no work does not need the tasks that its flows call.
      if (role !== 'api') {
        checkCalls(this.flows.all(), this.tasks, externalTasksOf(this.options));
        await this.appDataSource.check(this.tasks);
      }
      await this.definitions.publish();
    } catch (error) {
      await this.database.close();
      throw error;
    }
  }
}
